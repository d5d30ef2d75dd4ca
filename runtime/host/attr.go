package host

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// NewAttr returns the attributes of a new file or directory for which nobody wants others: the user of this
// process, and the group of this process or, below a directory with setgid, that of the directory. Such
// a directory passes setgid on to new directories (inode(7)).
func NewAttr(v *View, name string, kind safepath.FileKind) safepath.Attr {
	a := safepath.Attr{Mode: 0o644}
	if kind == safepath.Directory {
		a.Mode = 0o755
	}
	a.UID, a.GID = Self()
	v = v.Recording(nil) // no plan is in doubt because of a group that nobody wants
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		info, err := v.Stat(dir)
		if err == nil && info.Kind == safepath.Missing && dir != filepath.Dir(dir) {
			continue // it will be made, and inherit both
		}
		if err == nil && info.Kind == safepath.Directory && info.Mode&unix.S_ISGID != 0 {
			a.GID = info.GID
			if kind == safepath.Directory {
				a.Mode |= unix.S_ISGID
			}
		}
		return a
	}
}

// SetAttr sets the owner and mode of the entry at the path. A link is refused.
func (h *Host) SetAttr(name string, attr safepath.Attr) error {
	return h.SetAttrOf(name, safepath.Info{}, attr)
}

// SetAttrOf is SetAttr for the entry that an earlier look has described as have. Another entry,
// put in its place meanwhile, is not changed.
func (h *Host) SetAttrOf(name string, have safepath.Info, attr safepath.Attr) error {
	p, d, err := h.opened(name)
	if err != nil {
		return err
	}
	defer p.Close()
	defer d.Close()
	if d.Stat.Mode&unix.S_IFMT == unix.S_IFLNK {
		return diag.OfKind(name, "a symbolic link")
	}
	if have.Ino != 0 && (have.Ino != d.Stat.Ino || have.Dev != uint64(d.Stat.Dev)) {
		return fmt.Errorf("%s: %w", name, diag.Meanwhile("", "replaced"))
	}
	if err := h.files.MayChange(p.Location, &d.Stat); err != nil {
		return err
	}
	h.log.Debug("attributes", "path", name, "mode", fmt.Sprintf("%04o", attr.Mode))
	info := safepath.InfoOf(&d.Stat)
	caps, err := h.newCapabilities(d, name)
	if err != nil {
		return err
	}
	if info.UID != attr.UID || info.GID != attr.GID || info.Mode != attr.Mode || caps != nil {
		if err := h.announceAttr(p, info); err != nil {
			return err
		}
	}
	if err := p.SetAttr(d, attr); err != nil || caps == nil {
		return err
	}
	return h.setCapabilities(d.FD, name, *caps)
}

// opened opens the entry at a path, whatever its kind, and returns its place too. The caller
// closes both.
func (h *Host) opened(name string) (target.Target, *safepath.Handle, error) {
	p, err := h.at(name)
	if err != nil {
		return p, nil, err
	}
	open := p.OpenPath
	if h.caps != nil {
		open = p.OpenXattrs
	}
	d, err := open()
	if err != nil {
		p.Close()
	}
	return p, d, safepath.PathError("open", name, err)
}

// announceAttr announces that the owner or mode of an entry is about to change.
func (h *Host) announceAttr(t target.Target, info safepath.Info) error {
	if err := h.batchEntry.refuseOther(); err != nil {
		return err
	}
	return h.BeforeChange(PreImage{Path: t.PathName, Dir: t.Dir.Path, Info: info})
}

// ChownLink sets the owner of the link at the path, not that of its target.
func (h *Host) ChownLink(name string, uid, gid uint32) error {
	p, d, err := h.opened(name)
	if err != nil {
		return err
	}
	defer p.Close()
	defer d.Close()
	info := safepath.InfoOf(&d.Stat)
	switch {
	case info.Kind != safepath.Symlink:
		return fmt.Errorf("%s: %w", name, diag.Expected("a symbolic link").Found("%s", info.Kind))
	case info.UID == uid && info.GID == gid:
		return nil
	}
	if err := h.announceAttr(p, info); err != nil {
		return err
	}
	return p.Chown(d, uid, gid)
}
