package fake

import (
	"context"
	"path"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// ownAttr returns the attributes of files written by this process.
func ownAttr(mode uint32) safepath.Attr {
	uid, gid := host.Self()
	return safepath.Attr{UID: uid, GID: gid, Mode: mode}
}

// files writes real files and only records their owners and capabilities, because only root may set these.
// Existing files belong to root. Directories that packages would make are made when something is
// put into them.
type files struct {
	m     *Machine
	inner resource.Binding
}

// unprivileged returns the spec without owner, group and capabilities.
func unprivileged(want resources.File) *resources.File {
	want.Owner, want.Group, want.Capabilities = resources.Unmanaged, resources.Unmanaged, nil
	return &want
}

// fileModel is the model of files.
func fileModel(m *Machine, real resource.Binding, order int) resource.Binding {
	return resources.FileType.Provide(real.Name, resource.Always[resources.File](order), files{m, real})
}

// Status implements resources.FileProvider.
func (f files) Status(ctx context.Context, v *host.View, want resources.File) (resources.FileState, error) {
	have, err := f.inner.Status(ctx, v, unprivileged(want))
	if err != nil {
		return resources.FileState{}, err
	}
	s := have.(resources.FileState)
	s.Parents = resources.Parents{}
	s.UID, s.WantUID, s.GID, s.WantGID = 0, 0, 0, 0
	owner, group := f.m.ownerOf(want.Name)
	if want.ManagesOwner() && !sameUser(owner, want.Owner) {
		s.WantUID, s.Owner = 1, owner
	}
	if want.ManagesGroup() && !sameUser(group, want.Group) {
		s.WantGID, s.Group = 1, group
	}
	if want.Capabilities != nil && s.Kind == safepath.Regular {
		f.m.mu.Lock()
		defer f.m.mu.Unlock()
		s.Capabilities = f.m.capabilities[want.Name]
	}
	return s, nil
}

// sameUser reports whether two names mean one user: root is number 0.
func sameUser(a, b string) bool {
	number := func(s string) string {
		if s == "root" {
			return "0"
		}
		return s
	}
	return number(a) == number(b)
}

// ownerOf returns the owner and the group of a file.
func (m *Machine) ownerOf(name string) (owner, group string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.owners[name]; ok {
		return o[0], o[1]
	}
	return "root", "root"
}

// recordOwner records the owner of a file.
func (m *Machine) recordOwner(name, owner, group string) {
	oldOwner, oldGroup := m.ownerOf(name)
	if owner == "" || owner == resources.Unmanaged {
		owner = oldOwner
	}
	if group == "" || group == resources.Unmanaged {
		group = oldGroup
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owners[name] = [2]string{owner, group}
}

func (f files) perform(ctx context.Context, h *host.Host, want resources.File, verb string) error {
	if err := directory(h, path.Dir(want.Name)); err != nil {
		return err
	}
	if err := f.inner.Perform(ctx, h, unprivileged(want), resource.Action{Verb: verb}); err != nil {
		return err
	}
	f.m.recordOwner(want.Name, want.Owner, want.Group)
	if want.Capabilities != nil {
		f.m.mu.Lock()
		defer f.m.mu.Unlock()
		f.m.capabilities[want.Name] = *want.Capabilities
	}
	return nil
}

// Create implements resources.FileProvider.
func (f files) Create(ctx context.Context, h *host.Host, want resources.File) error {
	return f.perform(ctx, h, want, "Create")
}

// Store implements resources.FileProvider.
func (f files) Store(ctx context.Context, h *host.Host, want resources.File) error {
	return f.perform(ctx, h, want, "Store")
}

// CreateDirectory implements resources.FileProvider.
func (f files) CreateDirectory(ctx context.Context, h *host.Host, want resources.File) error {
	return f.perform(ctx, h, want, "CreateDirectory")
}

// SetAttributes implements resources.FileProvider.
func (f files) SetAttributes(ctx context.Context, h *host.Host, want resources.File) error {
	return f.perform(ctx, h, want, "SetAttributes")
}

// Remove implements resources.FileProvider.
func (f files) Remove(ctx context.Context, h *host.Host, want resources.File) error {
	f.m.mu.Lock()
	for name := range f.m.owners {
		if name == want.Name || strings.HasPrefix(name, want.Name+"/") {
			delete(f.m.owners, name)
		}
	}
	delete(f.m.capabilities, want.Name)
	f.m.mu.Unlock()
	return f.inner.Perform(ctx, h, &want, resource.Action{Verb: "Remove"})
}

// Write puts a file on the machine before it converges.
func (m *Machine) Write(h *host.Host, name, content string) error {
	if err := directory(h, path.Dir(name)); err != nil {
		return err
	}
	return h.WriteFile(name, strings.NewReader(content), ownAttr(0o644))
}

// put makes an empty file if the path is missing.
func (m *Machine) put(h *host.Host, name string) error {
	there, err := h.Exists(name)
	if err != nil || there {
		return err
	}
	return m.Write(h, name, "")
}

// directory makes a directory and those above it if missing.
func directory(h *host.Host, name string) error {
	there, err := h.Exists(name)
	if err != nil || there {
		return err
	}
	return h.MakeDirectory(name, ownAttr(0o755))
}
