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
	if err := h.files.MayChange(p, &d.Stat); err != nil {
		return err
	}
	h.log.Debug("attributes", "path", name, "mode", fmt.Sprintf("%04o", attr.Mode))
	info := safepath.InfoOf(&d.Stat)
	if info.UID != attr.UID || info.GID != attr.GID || info.Mode != attr.Mode {
		if err := h.tellOf(name, p, info); err != nil {
			return err
		}
	}
	return h.setAttr(name, p, d, attr)
}

// opened opens what stands at a path, whatever it is, and returns its place too. Both are
// for the caller to close.
func (h *Host) opened(name string) (safepath.Location, *safepath.Handle, error) {
	p, err := h.at(name)
	if err != nil {
		return p, nil, err
	}
	fd, err := p.Open(unix.O_PATH, 0)
	if err != nil {
		p.Close()
		return p, nil, safepath.PathError("open", name, err)
	}
	d, err := safepath.NewHandle(fd, p.Path())
	if err != nil {
		p.Close()
	}
	return p, d, safepath.PathError("stat", name, err)
}

// tellOf says that the owner or the mode of something is about to be changed.
func (h *Host) tellOf(name string, p safepath.Location, info Info) error {
	if err := h.refusedInBatch(); err != nil {
		return err
	}
	return h.BeforeChange(PreImage{Path: name, Dir: p.Dir.Path, Info: info})
}

// setAttr gives what is open its owner and mode, where they are not so already.
func (h *Host) setAttr(name string, p safepath.Location, d *safepath.Handle, attr Attr) error {
	info := safepath.InfoOf(&d.Stat)
	if info.UID != attr.UID || info.GID != attr.GID {
		if err := h.chown(name, p, d, attr.UID, attr.GID); err != nil {
			return err
		}
		// A change of owner clears setuid and setgid, so the mode is set again.
		info.Mode = ^attr.Mode
	}
	if info.Mode == attr.Mode {
		return nil
	}
	return h.Effect("chmod", name, func() error {
		if err := safepath.Chmod(d.FD, attr.Mode&0o7777); err != nil {
			return &os.PathError{Op: "chmod", Path: h.RealPath(name, p), Err: err}
		}
		return nil
	})
}

// chown gives what is open an owner.
func (h *Host) chown(name string, p safepath.Location, d *safepath.Handle, uid, gid uint32) error {
	return h.Effect("chown", name, func() error {
		if err := unix.Fchownat(d.FD, "", int(uid), int(gid), unix.AT_EMPTY_PATH); err != nil {
			return &os.PathError{Op: "lchown", Path: h.RealPath(name, p), Err: err}
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
	if err := h.tellOf(name, p, info); err != nil {
		return err
	}
	return h.chown(name, p, d, uid, gid)
}
