package host

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
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
	defer p.close()
	defer d.close()
	if d.st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return fmt.Errorf("%s is a symbolic link", name)
	}
	if have.Ino != 0 && (have.Ino != d.st.Ino || have.Dev != uint64(d.st.Dev)) {
		return fmt.Errorf("%s: something else was put in its place meanwhile", name)
	}
	if err := h.files.mayChange(p, &d.st); err != nil {
		return err
	}
	h.log.Debug("attributes", "path", name, "mode", fmt.Sprintf("%04o", attr.Mode))
	info := infoOf(&d.st)
	if info.UID != attr.UID || info.GID != attr.GID || info.Mode != attr.Mode {
		if err := h.tellOf(name, p, info); err != nil {
			return err
		}
	}
	return h.setAttr(name, p, d, attr)
}

// IsOwnersToChange reports whether the owner of a file is a user who may change it still
// while it is given to somebody else: neither root nor the user of this process.
func (i Info) IsOwnersToChange() bool { return !isOurs(i.UID) }

// opened opens what stands at a path, whatever it is, and returns its place too. Both are
// for the caller to close.
func (h *Host) opened(name string) (location, *handle, error) {
	p, err := h.at(name)
	if err != nil {
		return p, nil, err
	}
	fd, err := p.open(unix.O_PATH, 0)
	if err != nil {
		p.close()
		return p, nil, pathError("open", name, err)
	}
	d, err := newHandle(fd, p.path())
	if err != nil {
		p.close()
	}
	return p, d, pathError("stat", name, err)
}

// tellOf says that the owner or the mode of something is about to be changed.
func (h *Host) tellOf(name string, p location, info Info) error {
	if err := h.refusedInBatch(); err != nil {
		return err
	}
	return h.tell(Doomed{Path: name, Dir: p.dir.path, Info: info})
}

// setAttr gives what is open its owner and mode, where they are not so already.
func (h *Host) setAttr(name string, p location, d *handle, attr Attr) error {
	info := infoOf(&d.st)
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
	return h.do("chmod", name, func() error {
		if err := chmod(d.fd, attr.Mode&0o7777); err != nil {
			return &os.PathError{Op: "chmod", Path: h.realPath(name, p), Err: err}
		}
		return nil
	})
}

// chown gives what is open an owner.
func (h *Host) chown(name string, p location, d *handle, uid, gid uint32) error {
	return h.do("chown", name, func() error {
		if err := unix.Fchownat(d.fd, "", int(uid), int(gid), unix.AT_EMPTY_PATH); err != nil {
			return &os.PathError{Op: "lchown", Path: h.realPath(name, p), Err: err}
		}
		return nil
	})
}

// chmod sets the permissions of what is open as O_PATH. Fchmodat2 can do that since Linux
// 6.6, and before that the way through proc(5) does.
func chmod(fd int, mode uint32) error {
	err := unix.Chmod(procPath(fd), mode)
	if err == unix.ENOENT || err == unix.ENOTDIR { // there is no /proc
		err = unix.Fchmodat(fd, "", mode, unix.AT_EMPTY_PATH)
	}
	return err
}

// ChownLink gives the link at the path its owner. What it points to is not
// touched.
func (h *Host) ChownLink(name string, uid, gid uint32) error {
	p, d, err := h.opened(name)
	if err != nil {
		return err
	}
	defer p.close()
	defer d.close()
	info := infoOf(&d.st)
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
