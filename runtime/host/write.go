package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// An Attr is who may do what with a file.
type Attr struct {
	UID, GID uint32
	Mode     uint32 // permission bits
}

// WriteFile replaces the file at the path in one step: whoever reads it sees
// the old content or the new, with the new owner and mode, and nothing between.
// On any error the old file is untouched and no temporary file is left.
func (h *Host) WriteFile(name string, content io.Reader, attr Attr) (err error) {
	if h.edit != nil && h.edit.path == name {
		return h.edit.keep(content, attr, h.on)
	}
	if h.slot != nil {
		return h.wait(name, content, attr, false)
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

// WriteNewFile is WriteFile for a path at which the caller has found nothing. In a
// batch it is not looked at again.
func (h *Host) WriteNewFile(name string, content io.Reader, attr Attr) error {
	if h.IsBatched() {
		return h.wait(name, content, attr, true)
	}
	return h.WriteFile(name, content, attr)
}

// syncDir makes what happened to the names in the directory of name durable.
func (h *Host) syncDir(name string) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	return h.do("syncdir", filepath.Dir(name), func() error {
		dir := filepath.Dir(path)
		var fd int
		err := ignoringEINTR(func() (err error) {
			fd, err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			return err
		})
		if errors.Is(err, os.ErrPermission) {
			return nil // one may write in a directory without being able to open it
		}
		if err != nil {
			return &os.PathError{Op: "open", Path: dir, Err: err}
		}
		defer unix.Close(fd)
		err = ignoringEINTR(func() error { return unix.Fsync(fd) })
		if err != nil && err != unix.EINVAL {
			return &os.PathError{Op: "sync", Path: dir, Err: err}
		}
		return nil
	})
}

// SetAttr gives what stands at the path its owner and mode. A link is refused.
func (h *Host) SetAttr(name string, attr Attr) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	info, err := h.Lstat(name)
	if err != nil {
		return err
	}
	if info.Kind == Symlink {
		return fmt.Errorf("%s is a symbolic link", name)
	}
	h.log.Debug("attributes", "path", name, "mode", fmt.Sprintf("%04o", attr.Mode))
	if info.UID != attr.UID || info.GID != attr.GID || info.Mode != attr.Mode {
		if err := h.doomed(name, false); err != nil {
			return err
		}
	}
	if info.UID != attr.UID || info.GID != attr.GID {
		if err := h.do("chown", name, func() error { return os.Lchown(path, int(attr.UID), int(attr.GID)) }); err != nil {
			return err
		}
		// A change of owner clears setuid and setgid, so the mode is set again.
		info.Mode = ^attr.Mode
	}
	if info.Mode != attr.Mode {
		return h.do("chmod", name, func() error { return os.Chmod(path, fileMode(attr.Mode)) })
	}
	return nil
}

// MakeDirectory makes the directory at the path and those above it that are
// missing. Those above get mode 0755 and the owner of this process.
func (h *Host) MakeDirectory(name string, attr Attr) error {
	if parent := filepath.Dir(name); parent != name {
		ok, err := h.IsDirectory(parent)
		if err != nil {
			return err
		}
		if !ok {
			err := h.MakeDirectory(parent, Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o755})
			if err != nil {
				return err
			}
		}
	}
	path, err := h.real(name)
	if err != nil {
		return err
	}
	h.log.Debug("mkdir", "path", name)
	if err := h.doomed(name, true); err != nil {
		return err
	}
	first := os.FileMode(0o700)
	if attr.UID == uint32(os.Geteuid()) && attr.GID == uint32(os.Getegid()) {
		first = fileMode(attr.Mode) // so that a run that dies here leaves no other mode
	}
	if err := h.do("mkdir", name, func() error { return os.Mkdir(path, first) }); err != nil {
		return err
	}
	if err := h.SetAttr(name, attr); err != nil {
		return errors.Join(err, h.do("remove", name, func() error { return os.Remove(path) }))
	}
	return h.syncDir(name)
}

// Remove removes the file, link or empty directory at the path.
func (h *Host) Remove(name string) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	h.log.Debug("remove", "path", name)
	if err := h.doomed(name, true); err != nil {
		return err
	}
	if err := h.do("remove", name, func() error { return os.Remove(path) }); err != nil {
		return err
	}
	return h.syncDir(name)
}

// RemoveTree removes the directory at the path and everything in it. The root
// itself is refused.
func (h *Host) RemoveTree(name string) error {
	if filepath.Clean(name) == "/" {
		return errors.New("refusing to remove /")
	}
	path, err := h.real(name)
	if err != nil {
		return err
	}
	h.log.Debug("remove tree", "path", name)
	if err := h.holdsNoMount(name, path); err != nil {
		return err
	}
	if err := h.doomedTree(name); err != nil {
		return err
	}
	if err := h.do("remove", name, func() error { return os.RemoveAll(path) }); err != nil {
		return err
	}
	return h.syncDir(name)
}

// holdsNoMount reports a mount point at or below a path. What is mounted there is
// somebody else's.
func (h *Host) holdsNoMount(name, path string) error {
	var above syscall.Stat_t
	if err := syscall.Lstat(filepath.Dir(path), &above); err != nil {
		return &os.PathError{Op: "lstat", Path: filepath.Dir(name), Err: err}
	}
	return filepath.WalkDir(path, func(at string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && st.Dev != above.Dev {
			return fmt.Errorf("%s is a mount point, and is not removed with what is mounted there", filepath.Join(name, mustRel(path, at)))
		}
		return nil
	})
}

// Symlink makes a link at the path that points to target, in place of one that
// is there.
func (h *Host) Symlink(target, name string) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	if err := h.doomed(name, true); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), tempName(filepath.Base(path)))
	if err := h.do("symlink", name, func() error { return os.Symlink(target, temp) }); err != nil {
		if !errors.Is(err, os.ErrExist) {
			return err
		}
		if err := h.do("remove", name, func() error { return os.Remove(temp) }); err != nil {
			return err
		}
		if err := h.do("symlink", name, func() error { return os.Symlink(target, temp) }); err != nil {
			return err
		}
	}
	if err := h.do("rename", name, func() error { return os.Rename(temp, path) }); err != nil {
		return errors.Join(err, h.do("remove", name, func() error { return os.Remove(temp) }))
	}
	return h.syncDir(name)
}

// ChownLink gives the link at the path its owner. What it points to is not
// touched.
func (h *Host) ChownLink(name string, uid, gid uint32) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	info, err := h.Lstat(name)
	if err != nil || info.UID == uid && info.GID == gid {
		return err
	}
	if err := h.doomed(name, false); err != nil {
		return err
	}
	return h.do("chown", name, func() error { return os.Lchown(path, int(uid), int(gid)) })
}

// fileMode turns permission bits into a Go mode.
func fileMode(bits uint32) os.FileMode {
	m := os.FileMode(bits & 0o777)
	if bits&0o4000 != 0 {
		m |= os.ModeSetuid
	}
	if bits&0o2000 != 0 {
		m |= os.ModeSetgid
	}
	if bits&0o1000 != 0 {
		m |= os.ModeSticky
	}
	return m
}
