package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
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
	tmp, err := h.Create(name, attr)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Discard())
		}
	}()
	if err := h.do("write", name, func() error { _, err := io.Copy(tmp.f, content); return err }); err != nil {
		return err
	}
	if h.batch != nil {
		h.batch.temps = append(h.batch.temps, tmp)
		return nil
	}
	return tmp.Commit()
}

// A Temp is a file that is being written beside its target.
type Temp struct {
	h          *Host
	name       string // of the target
	path, temp string // for the operating system
	f          *os.File
	// nameless is set while the temporary file has no name (O_TMPFILE): if ccm dies,
	// it is gone.
	nameless bool
}

// Create begins a file that will replace the one at the path: a temporary file
// in the same directory with the owner and then the mode of attr. Commit or
// Discard must follow.
//
// The temporary file of a path has one name, if it has one, and is locked while it
// is being written (flock). One that is there and not locked was left by a run that
// died, and is removed.
func (h *Host) Create(name string, attr Attr) (_ *Temp, err error) {
	path, err := h.real(name)
	if err != nil {
		return nil, err
	}
	t := &Temp{h: h, name: name, path: path, temp: filepath.Join(filepath.Dir(path), tempName(filepath.Base(path)))}
	h.log.Debug("write", "path", name)
	open := t.open
	if h.batch != nil {
		open = t.openNameless
	}
	if err := open(); err != nil {
		if ok, e := h.IsDirectory(filepath.Dir(name)); e == nil && !ok {
			err = fmt.Errorf("%s is not a directory", filepath.Dir(name))
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Discard())
		}
	}()
	if err := h.chownFile(t.f, name, attr); err != nil {
		return nil, err
	}
	return t, h.do("chmod", name, func() error { return t.f.Chmod(fileMode(attr.Mode)) })
}

// tempName returns the name of the temporary file of a file. It is cut where
// file systems would refuse it.
func tempName(base string) string {
	const suffix = ".ccm-new"
	if len(base) > 255-len(suffix)-1 {
		base = base[:255-len(suffix)-1]
	}
	return "." + base + suffix
}

// openNameless is open for a file that waits in a batch for its place: it has no
// name before, so that a batch that dies leaves nothing. Where the file system
// cannot do that, it has one.
func (t *Temp) openNameless() error {
	if !linkable() {
		return t.open()
	}
	err := t.h.do("create", t.name, func() error {
		return t.openFile(filepath.Dir(t.path), unix.O_TMPFILE|syscall.O_RDWR|syscall.O_CLOEXEC)
	})
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EINVAL) {
		return t.open()
	}
	if err != nil {
		return err
	}
	t.nameless = true
	return t.lock()
}

// linkable reports whether a file without a name can be given one.
var linkable = sync.OnceValue(func() bool {
	_, err := os.Stat(procFds)
	return err == nil
})

const procFds = "/proc/self/fd"

// link gives the temporary file its name.
func (t *Temp) link() error {
	if !t.nameless {
		return nil
	}
	link := func() error {
		return t.h.do("link", t.name, func() error {
			fd := filepath.Join(procFds, strconv.Itoa(int(t.f.Fd())))
			if err := unix.Linkat(unix.AT_FDCWD, fd, unix.AT_FDCWD, t.temp, unix.AT_SYMLINK_FOLLOW); err != nil {
				return &os.PathError{Op: "link", Path: t.temp, Err: err}
			}
			return nil
		})
	}
	err := link()
	if errors.Is(err, os.ErrExist) {
		if err := t.removeLeftover(); err != nil {
			return err
		}
		err = link()
	}
	if err != nil {
		return &linkError{err}
	}
	t.nameless = false
	return nil
}

// A linkError says that a file without a name could not be given one.
type linkError struct{ error }

// Unwrap returns the reason.
func (e *linkError) Unwrap() error { return e.error }

// openFile opens the file at a path for the operating system.
func (t *Temp) openFile(path string, flags int) error {
	var fd int
	// os.OpenFile would ask whether one can wait for it.
	err := ignoringEINTR(func() (err error) {
		fd, err = syscall.Open(path, flags, 0o600)
		return err
	})
	if err != nil {
		return &os.PathError{Op: "open", Path: t.temp, Err: err}
	}
	t.f = os.NewFile(uintptr(fd), t.temp)
	return nil
}

func (t *Temp) open() error {
	create := func() error {
		return t.h.do("create", t.name, func() error {
			return t.openFile(t.temp, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC)
		})
	}
	err := create()
	if errors.Is(err, os.ErrExist) {
		if err := t.removeLeftover(); err != nil {
			return err
		}
		err = create()
	}
	if err != nil {
		return err
	}
	return t.lock()
}

// lock says that the temporary file is being written.
func (t *Temp) lock() error {
	if err := syscall.Flock(int(t.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("%s is being written by another process", t.name), t.f.Close())
	}
	return nil
}

// removeLeftover removes the temporary file of a run that died.
func (t *Temp) removeLeftover() error {
	old, err := os.OpenFile(t.temp, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer old.Close()
		if syscall.Flock(int(old.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return fmt.Errorf("%s is being written by another process", t.name)
		}
	}
	return t.h.do("remove", t.name, func() error { return os.Remove(t.temp) })
}

// Name returns where the temporary file is for the operating system.
func (t *Temp) Name() string { return t.temp }

// Write adds to the content.
func (t *Temp) Write(p []byte) (n int, err error) {
	err = t.h.do("write", t.name, func() (err error) { n, err = t.f.Write(p); return err })
	return n, err
}

// Commit makes the temporary file the target, durably. If it fails, Discard
// must follow.
func (t *Temp) Commit() error {
	if err := t.h.do("sync", t.name, t.f.Sync); err != nil {
		return err
	}
	if err := t.h.doomed(t.name, true); err != nil {
		return err
	}
	if err := t.place(); err != nil {
		return err
	}
	return t.h.syncDir(t.name)
}

// place gives a file that is durable its place. The directory is yet to be
// synced.
func (t *Temp) place() error {
	if err := t.link(); err != nil {
		return err
	}
	if err := t.h.do("rename", t.name, func() error { return os.Rename(t.temp, t.path) }); err != nil {
		return fmt.Errorf("could not rename temporary file: %w", err)
	}
	t.temp = ""
	return t.f.Close()
}

// Discard removes the temporary file. After a Commit it does nothing.
func (t *Temp) Discard() error {
	if t.temp == "" {
		return nil
	}
	temp := t.temp
	t.temp = ""
	if t.nameless {
		return t.f.Close()
	}
	return errors.Join(t.f.Close(), t.h.do("remove", t.name, func() error { return os.Remove(temp) }))
}

// syncDir makes what happened to the names in the directory of name durable.
func (h *Host) syncDir(name string) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	return h.do("syncdir", filepath.Dir(name), func() error {
		d, err := os.Open(filepath.Dir(path))
		if errors.Is(err, os.ErrPermission) {
			return nil // one may write in a directory without being able to open it
		}
		if err != nil {
			return err
		}
		defer d.Close()
		if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
			return err
		}
		return nil
	})
}

// chownFile sets the owner of an open file, unless it has it already.
func (h *Host) chownFile(f *os.File, name string, attr Attr) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	st := fi.Sys().(*syscall.Stat_t)
	if st.Uid == attr.UID && st.Gid == attr.GID {
		return nil
	}
	return h.do("chown", name, func() error { return f.Chown(int(attr.UID), int(attr.GID)) })
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
