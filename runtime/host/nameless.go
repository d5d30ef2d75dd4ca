package host

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// openNameless is open for a file that waits in a batch for its place: it has no
// name before, so that a batch that dies leaves nothing. Where the file system
// cannot do that, it has one. Nobody else can open it until it has a name, so that it
// may have its mode from the start.
func (t *Temp) openNameless(mode uint32) error {
	if !linkable() {
		return t.open()
	}
	err := t.h.do("create", t.name, func() error {
		return t.openFile(filepath.Dir(t.path), unix.O_TMPFILE|syscall.O_RDWR|syscall.O_CLOEXEC, mode&0o777)
	})
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EINVAL) {
		return t.open()
	}
	t.nameless = err == nil
	return err
}

// linkable reports whether a file without a name can be given one, whatever the
// kernel lets this process do.
var linkable = sync.OnceValue(func() bool {
	_, err := os.Stat(procFds)
	return err == nil
})

const procFds = "/proc/self/fd"

// giveName gives a file without a name that of a temporary one.
func (t *Temp) giveName() error {
	if !t.nameless {
		return nil
	}
	if err := t.lock(); err != nil {
		return err
	}
	temp := t.temp()
	err := t.link(temp)
	if errors.Is(err, os.ErrExist) {
		if err := t.removeLeftover(); err != nil {
			return err
		}
		err = t.link(temp)
	}
	t.nameless = err != nil
	return err
}

// placeNew gives a file without a name its place where nothing stands. If something
// does, the error is fs.ErrExist. The directory is yet to be synced.
func (t *Temp) placeNew() error {
	if err := t.link(t.path); err != nil {
		return err
	}
	t.placed, t.nameless = true, false
	return t.close()
}

// link gives a file without a name one.
func (t *Temp) link(path string) error {
	err := t.h.do("link", t.name, func() error {
		err := unix.Linkat(t.fd, "", unix.AT_FDCWD, path, unix.AT_EMPTY_PATH)
		if err == unix.ENOENT {
			// Before Linux 6.10 that needs a capability, and this does not.
			err = unix.Linkat(unix.AT_FDCWD, filepath.Join(procFds, strconv.Itoa(t.fd)), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
		}
		if err != nil {
			return &os.PathError{Op: "link", Path: path, Err: err}
		}
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrExist) {
		return &linkError{err}
	}
	return err
}

// A linkError says that a file without a name could not be given one.
type linkError struct{ error }

// Unwrap returns the reason.
func (e *linkError) Unwrap() error { return e.error }
