package host

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// SetAttr gives what stands at the path its owner and mode. A link is refused.
func (h *Host) SetAttr(name string, attr Attr) error { return h.SetAttrOf(name, Info{}, attr) }

// SetAttrOf is SetAttr for what was looked at before, as have: another thing that was put
// in its place meanwhile gets nothing.
func (h *Host) SetAttrOf(name string, have Info, attr Attr) error {
	p, d, err := h.opened(name)
	if err != nil {
		return err
	}
	defer p.Close()
	defer d.Close()
	if d.Stat.Mode&unix.S_IFMT == unix.S_IFLNK {
		return fmt.Errorf("%s is a symbolic link", name)
	}
	if have.Ino != 0 && (have.Ino != d.Stat.Ino || have.Dev != uint64(d.Stat.Dev)) {
		return fmt.Errorf("%s: something else was put in its place meanwhile", name)
	}
	if err := h.files.MayChange(p.Location, &d.Stat); err != nil {
		return err
	}
	h.log.Debug("attributes", "path", name, "mode", fmt.Sprintf("%04o", attr.Mode))
	info := safepath.InfoOf(&d.Stat)
	if info.UID != attr.UID || info.GID != attr.GID || info.Mode != attr.Mode {
		if err := p.announceAttr(info); err != nil {
			return err
		}
	}
	return p.setAttr(d, attr)
}

// opened opens what stands at a path, whatever it is, and returns its place too. Both are
// for the caller to close.
func (h *Host) opened(name string) (target, *safepath.Handle, error) {
	p, err := h.at(name)
	if err != nil {
		return p, nil, err
	}
	d, err := p.OpenPath()
	if err != nil {
		p.Close()
	}
	return p, d, safepath.PathError("open", name, err)
}

// announceAttr says that the owner or the mode of what stands there is about to be changed.
func (t target) announceAttr(info Info) error {
	if err := t.h.refusedInBatch(); err != nil {
		return err
	}
	return t.h.BeforeChange(PreImage{Path: t.path, Dir: t.Dir.Path, Info: info})
}

// setAttr gives what is open its owner and mode, where they are not so already.
func (t target) setAttr(d *safepath.Handle, attr Attr) error {
	info := safepath.InfoOf(&d.Stat)
	if info.UID != attr.UID || info.GID != attr.GID {
		if err := t.chown(d, attr.UID, attr.GID); err != nil {
			return err
		}
		// A change of owner clears setuid and setgid, so the mode is set again.
		info.Mode = ^attr.Mode
	}
	if info.Mode == attr.Mode {
		return nil
	}
	return t.h.Effect("chmod", t.path, func() error {
		if err := d.Chmod(attr.Mode & 0o7777); err != nil {
			return &os.PathError{Op: "chmod", Path: t.real(t.Location), Err: err}
		}
		return nil
	})
}

// chown gives what is open an owner.
func (t target) chown(d *safepath.Handle, uid, gid uint32) error {
	return t.h.Effect("chown", t.path, func() error {
		if err := d.Chown(uid, gid); err != nil {
			return &os.PathError{Op: "lchown", Path: t.real(t.Location), Err: err}
		}
		return nil
	})
}

// ChownLink gives the link at the path its owner. What it points to is not
// touched.
func (h *Host) ChownLink(name string, uid, gid uint32) error {
	p, d, err := h.opened(name)
	if err != nil {
		return err
	}
	defer p.Close()
	defer d.Close()
	info := safepath.InfoOf(&d.Stat)
	switch {
	case info.Kind != Symlink:
		return fmt.Errorf("%s: want a symbolic link, found %s", name, info.Kind)
	case info.UID == uid && info.GID == gid:
		return nil
	}
	if err := p.announceAttr(info); err != nil {
		return err
	}
	return p.chown(d, uid, gid)
}
