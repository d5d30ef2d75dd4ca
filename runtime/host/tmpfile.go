package host

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// openUnnamed is open for a file of a batch. The file has no name before the commit (O_TMPFILE),
// so that a dead batch leaves nothing; on file systems without O_TMPFILE it has a temporary name.
// An unnamed file cannot be opened by others, so it gets its mode at once. IsNew says that the
// path is missing.
func (t *Temp) openUnnamed(dirs *safepath.DirectoryCache, mode uint32, isNew bool) error {
	dir, base := safepath.Split(t.name)
	d, err := dirs.Open(t.h.files, dir)
	if err != nil {
		return err
	}
	t.target = safepath.Location{Dir: d, Name: base}
	if !isNew {
		if t.lookAtOld(); t.inPlace != "" {
			return errInPlace
		}
	}
	if err := t.openIn(mode); err != nil {
		return err
	}
	if t.temp == "" { // many files may wait, each in another directory
		t.dirs, t.from, t.target.Dir = dirs, d, nil
		d.Close()
	}
	return nil
}

// openIn opens the file in the directory of the target, without a name if possible.
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

// createUnnamed is Create for a file that takes long to write. If possible, the file has no name
// before Commit, so that a dead run leaves nothing.
func (h *Host) createUnnamed(name string, attr safepath.Attr) (*Temp, error) {
	return h.create(name, attr, func(t *Temp) error { return t.openIn(0o600) })
}

// commitUnnamed moves an unnamed file to the target. The caller has to sync the directory.
func (t *Temp) commitUnnamed() error {
	now, err := t.target.Stat()
	if err != nil {
		return safepath.PathError("lstat", t.name, err)
	}
	if now.Kind == safepath.Missing {
		if err := t.linkInPlace(); !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	if err := t.linkTemp(); err != nil {
		return err
	}
	return t.rename()
}

// copyTo copies the file to the target by way of a temporary name, for file systems on which an
// unnamed file cannot get a name later.
func (t *Temp) copyTo(attr safepath.Attr) error {
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

// findDir opens the directory of an unnamed file again. It has to be the one in which the file
// was made.
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

// releaseDir closes the directory of an unnamed file until findDir.
func (t *Temp) releaseDir() {
	if t.temp == "" {
		t.target.Dir.Close()
		t.target.Dir = nil
	}
}

// linkTemp gives an unnamed file a temporary name.
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

// linkInPlace gives an unnamed file the name of its target. If the target exists, the error is
// fs.ErrExist. The caller has to sync the directory.
func (t *Temp) linkInPlace() error {
	if err := t.link(t.target); err != nil {
		return err
	}
	t.finished = true
	return t.close()
}

// link gives an unnamed file a name.
func (t *Temp) link(p safepath.Location) error {
	err := t.h.Effect("link", t.name, func() error {
		return safepath.PathError("link", t.h.RealPath(t.name, p), safepath.LinkUnnamed(t.fd, p))
	})
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return &linkError{err}
	}
	return err
}

// A linkError says that an unnamed file could not get a name.
type linkError struct{ error }

// Unwrap returns the reason.
func (e *linkError) Unwrap() error { return e.error }
