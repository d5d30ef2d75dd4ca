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
		t.dir = nil
		return t.open()
	}
	err := t.h.do("create", t.name, func() error {
		at, dir := unix.AT_FDCWD, filepath.Dir(t.path)
		if t.dir.stands() {
			at, dir = t.dir.fd, "."
		}
		return t.openFile(at, dir, unix.O_TMPFILE|syscall.O_RDWR|syscall.O_CLOEXEC, mode&0o777)
	})
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EINVAL) {
		t.dir = nil
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
	if !t.dir.stands() {
		t.dir = nil // for good: where it gets its name, it is found again
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

// at returns where a path in the directory of the file is: from the directory, if that
// is held open.
func (t *Temp) at(path string) (dirfd int, name string) {
	if t.dir == nil {
		return unix.AT_FDCWD, path
	}
	return t.dir.fd, filepath.Base(path)
}

// placeNew gives a file without a name its place where nothing stands. If something
// does, the error is fs.ErrExist. The directory is yet to be synced.
func (t *Temp) placeNew() error {
	if !t.dir.stands() {
		t.dir = nil
	}
	if err := t.link(t.path); err != nil {
		return err
	}
	t.placed, t.nameless = true, false
	return t.close()
}

// link gives a file without a name one.
func (t *Temp) link(path string) error {
	err := t.h.do("link", t.name, func() error {
		at, name := t.at(path)
		err := unix.Linkat(t.fd, "", at, name, unix.AT_EMPTY_PATH)
		if err == unix.ENOENT {
			// Before Linux 6.10 that needs a capability, and this does not.
			err = unix.Linkat(unix.AT_FDCWD, filepath.Join(procFds, strconv.Itoa(t.fd)), at, name, unix.AT_SYMLINK_FOLLOW)
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
