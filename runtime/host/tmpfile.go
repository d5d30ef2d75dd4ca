package host

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// openUnnamed is open for a file of a batch: it has no name before the batch is
// committed (O_TMPFILE), so that a batch that dies leaves nothing. Where the file system
// cannot do that, it has one. Nobody else can open it until it has a name, so that it
// may have its mode from the start.
func (t *Temp) openUnnamed(dirs *safepath.DirectoryCache, mode uint32) error {
	dir, base := safepath.Split(t.name)
	d, err := dirs.Open(t.h.files, dir)
	if err != nil {
		return err
	}
	t.target = safepath.Location{Dir: d, Name: base}
	if err := t.openIn(mode); err != nil {
		return err
	}
	if t.temp == "" { // many files may wait, each in another directory
		t.dirs, t.from, t.target.Dir = dirs, d, nil
		d.Close()
	}
	return nil
}

// openIn opens the file in the directory of its place: without a name, where that is
// possible.
func (t *Temp) openIn(mode uint32) error {
	if !safepath.MakesUnnamed() {
		return t.open()
	}
	err := t.h.Effect("create", t.name, func() (err error) {
		t.fd, err = t.target.OpenUnnamed(mode & 0o777)
		return err
	})
	if err == unix.EOPNOTSUPP || err == unix.EISDIR || err == unix.EINVAL {
		return t.open()
	}
	return err
}

// createUnnamed is Create for a file that takes long to write: where that is possible it
// has no name before Commit, so that a run that dies meanwhile leaves nothing.
func (h *Host) createUnnamed(name string, attr Attr) (*Temp, error) {
	return h.create(name, attr, func(t *Temp) error { return t.openIn(0o600) })
}

// commitUnnamed gives a file without a name its place. The directory is yet to be synced.
func (t *Temp) commitUnnamed() error {
	now, err := t.target.Stat()
	if err != nil {
		return safepath.PathError("lstat", t.name, err)
	}
	if now.Kind == Missing {
		if err := t.linkInPlace(); !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	if err := t.linkTemp(); err != nil {
		return err
	}
	return t.rename()
}

// copyTo writes what a file holds to the target under a temporary name, for file systems
// on which it cannot be given a name later.
func (t *Temp) copyTo(attr Attr) error {
	named, err := t.h.Create(t.name, attr)
	if err != nil {
		return err
	}
	if _, err = t.file().Seek(0, io.SeekStart); err == nil {
		err = named.fill(t.file())
	}
	if err == nil {
		err = named.Commit()
	}
	return errors.Join(err, named.Discard())
}

// findDir opens the directory of a file without a name again: the one in which it was
// made, if that stands at its path still.
func (t *Temp) findDir() error {
	if t.target.Dir != nil {
		return nil
	}
	if t.target.Dir = t.dirs.Reopen(t.from); t.target.Dir != nil {
		return nil
	}
	now, err := t.h.at(t.name)
	t.target.Dir = now.Dir
	return err
}

// releaseDir gives up the directory of a file without a name until findDir.
func (t *Temp) releaseDir() {
	if t.temp == "" {
		t.target.Dir.Close()
		t.target.Dir = nil
	}
}

// linkTemp gives a file without a name that of a temporary one.
func (t *Temp) linkTemp() (err error) {
	if t.temp != "" {
		return nil
	}
	if err := t.lock(); err != nil {
		return err
	}
	name, err := t.at().Claim(t.link)
	if err == nil {
		t.temp = name
	}
	return err
}

// linkInPlace gives a file without a name its place where nothing stands. If something
// does, the error is fs.ErrExist. The directory is yet to be synced.
func (t *Temp) linkInPlace() error {
	if err := t.link(t.target); err != nil {
		return err
	}
	t.finished = true
	return t.close()
}

// link gives a file without a name one.
func (t *Temp) link(p safepath.Location) error {
	err := t.h.Effect("link", t.name, func() error {
		return safepath.PathError("link", t.h.RealPath(t.name, p), safepath.LinkUnnamed(t.fd, p))
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
