package fake

import (
	"context"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// archives models archives. Nothing is downloaded; they are empty, and their extraction makes
// only the creates path.
type archives struct{ m *Machine }

// archiveModel is the model of archives.
func archiveModel(m *Machine, real resource.Binding, order int) resource.Binding {
	return resources.ArchiveType.Provide(real.Name, resource.Always[resources.Archive](order), archives{m})
}

// Status implements resources.ArchiveProvider.
func (a archives) Status(_ context.Context, v *host.View, want resources.Archive) (s resources.ArchiveState, err error) {
	if s.ArchiveExists, err = v.Exists(want.Name); err != nil {
		return s, err
	}
	if s.ArchiveExists {
		s.Kind, s.Checksum = safepath.Regular, string(want.Checksum)
	}
	if want.Creates != "" {
		s.CreatesExists, err = v.Exists(want.Creates)
	}
	owner, group := a.m.ownerOf(want.Name)
	if !sameUser(owner, want.Owner) {
		s.WantUID, s.Owner = 1, owner
	}
	if !sameUser(group, want.Group) {
		s.WantGID, s.Group = 1, group
	}
	return s, err
}

// Download implements resources.ArchiveProvider.
func (a archives) Download(_ context.Context, h *host.Host, want resources.Archive) error {
	a.m.recordOwner(want.Name, want.Owner, want.Group)
	if err := a.m.put(h, want.Name); err != nil {
		return err
	}
	return h.SetAttr(want.Name, ownAttr(0o640))
}

// Extract implements resources.ArchiveProvider.
func (a archives) Extract(_ context.Context, h *host.Host, want resources.Archive) error {
	if err := directory(h, want.ExtractParent); err != nil || want.Creates == "" {
		return err
	}
	return a.m.put(h, want.Creates)
}

// SetAttributes implements resources.ArchiveProvider.
func (a archives) SetAttributes(_ context.Context, _ *host.Host, want resources.Archive) error {
	a.m.recordOwner(want.Name, want.Owner, want.Group)
	return nil
}

// Remove implements resources.ArchiveProvider.
func (a archives) Remove(_ context.Context, h *host.Host, want resources.Archive) error {
	return h.Remove(want.Name)
}
