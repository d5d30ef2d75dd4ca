package host

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// openNameless is open for a file that waits in a batch for its place: it has no
// name before, so that a batch that dies leaves nothing. Where the file system
// cannot do that, it has one. Nobody else can open it until it has a name, so that it
// may have its mode from the start.
func (t *Temp) openNameless(dirs *Dirs, mode uint32) error {
	dir, base := safepath.Split(t.name)
	d, err := dirs.of(t.h.files, dir)
	if err != nil {
		return err
	}
	t.place = safepath.Location{Dir: d, Name: base}
	if !linkable() {
		return t.open()
	}
	err = t.h.do("create", t.name, func() error {
		return t.openFile(safepath.Location{Dir: d, Name: "."}, unix.O_TMPFILE, mode&0o777)
	})
	if err == unix.EOPNOTSUPP || err == unix.EISDIR || err == unix.EINVAL {
		return t.open()
	}
	if err == nil { // many files may wait, each in another directory
		t.dirs, t.from, t.place.Dir = dirs, d, nil
		d.Close()
	}
	return err
}

// linkable reports whether a file without a name can be given one, whatever the
// kernel lets this process do.
var linkable = sync.OnceValue(func() bool { return unix.Access(safepath.ProcFDs, unix.F_OK) == nil })

// find finds the directory of a file without a name again: the one in which it was
// made, if that stands at its path still.
func (t *Temp) find() error {
	if t.place.Dir != nil {
		return nil
	}
	if t.place.Dir = t.dirs.again(t.from); t.place.Dir != nil {
		return nil
	}
	now, err := t.h.at(t.name)
	t.place.Dir = now.Dir
	return err
}

// forget gives up the directory of a file without a name until it is found again.
func (t *Temp) forget() {
	if t.temp == "" {
		t.place.Dir.Close()
		t.place.Dir = nil
	}
}

// giveName gives a file without a name that of a temporary one.
func (t *Temp) giveName() (err error) {
	if t.temp != "" {
		return nil
	}
	if err := t.lock(); err != nil {
		return err
	}
	name, err := t.h.claim(t.name, t.place, t.link)
	if err == nil {
		t.temp = name
	}
	return err
}

// placeNew gives a file without a name its place where nothing stands. If something
// does, the error is fs.ErrExist. The directory is yet to be synced.
func (t *Temp) placeNew() error {
	if err := t.link(t.place); err != nil {
		return err
	}
	t.placed = true
	return t.close()
}

// link gives a file without a name one.
func (t *Temp) link(p safepath.Location) error {
	err := t.h.do("link", t.name, func() error {
		err := unix.Linkat(t.fd, "", p.Dir.FD, p.Name, unix.AT_EMPTY_PATH)
		if err == unix.ENOENT {
			// Before Linux 6.10 that needs a capability, and this does not.
			err = unix.Linkat(unix.AT_FDCWD, safepath.ProcPath(t.fd), p.Dir.FD, p.Name, unix.AT_SYMLINK_FOLLOW)
		}
		return safepath.PathError("link", t.h.realPath(t.name, p), err)
	})
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return &linkError{err}
	}
	return err
}

// A linkError says that a file without a name could not be given one.
type linkError struct{ error }

// Unwrap returns the reason.
func (e *linkError) Unwrap() error { return e.error }
