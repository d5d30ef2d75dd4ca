package posix

import (
	"context"
	"errors"

	"io"
	"io/fs"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Create implements resources.FileProvider. A file that somebody made meanwhile is replaced.
func (p files) Create(ctx context.Context, h *host.Host, want resources.File) error {
	h, want, err := target(h, want)
	if err != nil {
		return err
	}
	if want.Parents {
		want.Parents = false
		return host.WithParents(h, want.Name, func() error { return p.Create(ctx, h, want) })
	}
	return withCheckAfter(ctx, h, want, func() error {
		if want.Validation().IsGiven() {
			return p.store(ctx, h, want)
		}
		err := p.write(ctx, h, want, safepath.Info{})
		if errors.Is(err, fs.ErrExist) {
			return p.store(ctx, h, want)
		}
		return err
	})
}

// Store implements resources.FileProvider.
func (p files) Store(ctx context.Context, h *host.Host, want resources.File) error {
	h, want, err := target(h, want)
	if err != nil {
		return err
	}
	return withCheckAfter(ctx, h, want, func() error { return p.store(ctx, h, want) })
}

func (p files) store(ctx context.Context, h *host.Host, want resources.File) error {
	info, _, same, err := p.look(ctx, &h.View, want)
	if err != nil {
		return err
	}
	if info.Kind == safepath.Symlink && want.Links == resources.LinksReplace {
		return p.write(ctx, h, want, info)
	}
	if info.Kind != safepath.Missing && info.Kind != safepath.Regular {
		return diag.Expected("a file").Found("%s", info.Kind)
	}
	if info.Kind == safepath.Regular && (same || !want.ManagesContent(info.Kind)) {
		attr, err := p.attr(&h.View, want, info, 0)
		if err != nil {
			return err
		}
		// The former owner may have the file open, and could write to it after the comparison, so a
		// file that gets another owner is written anew.
		if !same || attr.UID == info.UID || !info.IsOwnersToChange() {
			return h.SetAttrOf(want.Name, info, attr)
		}
	}
	return p.write(ctx, h, want, info)
}

// write replaces the entry at the path by the desired file.
func (p files) write(ctx context.Context, h *host.Host, want resources.File, have safepath.Info) error {
	attr, err := p.attr(&h.View, want, have, 0o644)
	if err != nil {
		return err
	}
	content, err := p.open(ctx, h, want)
	if err != nil {
		return err
	}
	write := h.WriteFile
	switch {
	case want.Validation().IsGiven():
		write = func(_ string, content io.Reader, attr safepath.Attr) error {
			return writeChecked(ctx, h, want, content, attr)
		}
	case have.Kind == safepath.Missing:
		write = h.WriteNewFile
	}
	return errors.Join(write(want.Name, content, attr), content.Close())
}

func (files) open(ctx context.Context, h *host.Host, want resources.File) (io.ReadCloser, error) {
	switch {
	case want.Source != nil:
		return h.Sources().OpenSummed(ctx, want.SourceName(), string(want.Checksum))
	case want.Content != nil:
		return io.NopCloser(strings.NewReader(*want.Content)), nil
	}
	return io.NopCloser(strings.NewReader("")), nil
}

// attr returns the desired attributes. Digits of the mode that are not managed are those of the
// present entry, or of mode if there is none.
func (files) attr(v *host.View, want resources.File, have safepath.Info, mode uint32) (a safepath.Attr, err error) {
	if have.Kind == safepath.Symlink {
		have = safepath.Info{} // nothing of the link stays
	}
	if a.UID, a.GID, err = owners(v, want, have); err != nil {
		return a, err
	}
	kind, chowned := safepath.Regular, false
	if have.Kind != safepath.Missing {
		kind, mode, chowned = have.Kind, have.Mode, have.UID != a.UID || have.GID != a.GID
	}
	a.Mode = want.ModeOver(kind, mode, chowned)
	return a, nil
}

// CreateDirectory implements resources.FileProvider.
func (p files) CreateDirectory(_ context.Context, h *host.Host, want resources.File) error {
	h, want, err := target(h, want)
	if err != nil {
		return err
	}
	info, err := h.Lstat(want.Name)
	if err != nil {
		return err
	}
	attr, err := p.attr(&h.View, want, info, host.NewAttr(&h.View, want.Name, safepath.Directory).Mode)
	if err != nil {
		return err
	}
	switch info.Kind {
	case safepath.Missing:
		return h.MakeDirectory(want.Name, attr)
	case safepath.Directory:
		return h.SetAttrOf(want.Name, info, attr)
	}
	return diag.Expected("a directory").Found("%s", info.Kind)
}

// SetAttributes implements resources.FileProvider.
func (p files) SetAttributes(_ context.Context, h *host.Host, want resources.File) error {
	h, want, err := target(h, want)
	if err != nil {
		return err
	}
	info, err := h.Lstat(want.Name)
	if err != nil {
		return err
	}
	if info.Kind != safepath.Regular && info.Kind != safepath.Directory {
		return diag.Expected("a file or a directory").Found("%s", info.Kind)
	}
	attr, err := p.attr(&h.View, want, info, 0)
	if err != nil {
		return err
	}
	return h.SetAttrOf(want.Name, info, attr)
}

// Remove implements resources.FileProvider.
func (files) Remove(ctx context.Context, h *host.Host, want resources.File) error {
	return withCheckAfter(ctx, h, want, func() error { return remove(h, want) })
}

func remove(h *host.Host, want resources.File) error {
	info, err := h.Lstat(want.Name)
	if err != nil || info.Kind == safepath.Missing {
		return err
	}
	if info.Kind == safepath.Directory && want.Force {
		return h.RemoveTree(want.Name)
	}
	return h.Remove(want.Name)
}
