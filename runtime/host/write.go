package host

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// WriteFile replaces the file at the path in one step: readers see the old or the new content,
// with the new owner and mode, and nothing in between. On any error the old file is untouched and
// no temporary file is left.
func (h *Host) WriteFile(name string, content io.Reader, attr safepath.Attr) (err error) {
	if h.edited != nil && h.edited.path == name {
		return h.edited.keep(content, attr, h.onBehalfOf)
	}
	if h.batchEntry != nil {
		return h.writeStaged(name, content, attr, false)
	}
	tmp, err := h.Create(name, attr)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Discard())
		}
	}()
	if err := tmp.fill(content); err != nil {
		return err
	}
	return tmp.Commit()
}

// WriteNewFile is WriteFile for a path that the caller found missing. If it exists by now, the
// error is fs.ErrExist or, in a batch, a conflict.
func (h *Host) WriteNewFile(name string, content io.Reader, attr safepath.Attr) error {
	if h.batchEntry != nil {
		return h.writeStaged(name, content, attr, true)
	}
	info, err := h.Lstat(name)
	if err == nil && info.Kind != safepath.Missing {
		err = &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
	}
	if err != nil {
		return err
	}
	return h.WriteFile(name, content, attr)
}

// MakeDirectory makes the directory at the path and missing directories above it. Those get the
// attributes of [NewAttr].
func (h *Host) MakeDirectory(name string, attr safepath.Attr) error {
	if parent := filepath.Dir(name); parent != name {
		ok, err := h.IsDirectory(parent)
		if err != nil {
			return err
		}
		if !ok {
			if err := WithXattrs(h, nil).MakeDirectory(parent, NewAttr(&h.View, parent, safepath.Directory)); err != nil {
				return err
			}
		}
	}
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	h.log.Debug("mkdir", "path", name)
	if err := h.announce(p, false); err != nil {
		return err
	}
	first := uint32(0o700)
	if uid, gid := safepath.Self(); attr.UID == uid && attr.GID == gid {
		first = attr.Mode & 0o1777 // no wider mode, in case the run dies here
	}
	if err := h.Effect("mkdir", name, func() error { return unix.Mkdirat(p.Dir.FD, p.Name, first) }); err != nil {
		return safepath.PathError("mkdir", p.Real(p.Location), err)
	}
	if err := p.SetNewAttr(attr, xattrSetter(h, name)); err != nil {
		return errors.Join(err, h.Effect("remove", name, func() error {
			return safepath.PathError("remove", name, unix.Unlinkat(p.Dir.FD, p.Name, unix.AT_REMOVEDIR))
		}))
	}
	return p.SyncDirectory()
}

// Symlink makes a link to the target to at the path. It replaces an existing link.
func (h *Host) Symlink(to, name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := h.announce(p, false); err != nil {
		return err
	}
	temp := safepath.Location{Dir: p.Dir}
	temp.Name, err = p.Claim(func(temp safepath.Location) error { return p.Symlink(to, temp) })
	if err != nil {
		return err
	}
	if err := h.Effect("rename", name, func() error { return safepath.Rename(temp, p.Location) }); err != nil {
		return errors.Join(err, h.Effect("remove", name, func() error { return safepath.Unlink(temp) }))
	}
	return p.SyncDirectory()
}
