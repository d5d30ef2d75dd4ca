package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

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
