package studio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/luaccm/ccm/studio/guard"
)

// A changedError says that a file has changed since it was read.
type changedError struct {
	now  fileText
	gone bool
}

// Error implements error.
func (e *changedError) Error() string {
	if e.gone {
		return "the file was removed meanwhile"
	}
	return "the file was changed meanwhile"
}

// beforeRename is called after all is written and before the file is replaced. It is nil except in
// tests.
var beforeRename func()

// save replaces a file in one step. had is the digest of the expected content, "" for no file;
// another content is a *changedError. Owner and mode stay; only its owner can write a new file.
func (d *directory) save(name, text, had string) (fileText, error) {
	at, base, err := d.makeParent(name)
	if err != nil {
		return fileText{}, err
	}
	defer at.Close()
	if err := saveIn(at, base, text, had); err != nil {
		if changed, ok := errors.AsType[*changedError](err); ok {
			return fileText{}, changed
		}
		return fileText{}, &fs.PathError{Op: "save", Path: name, Err: bare(err)}
	}
	return readIn(at, base)
}

// makeParent is like parent, but makes missing directories.
func (d *directory) makeParent(name string) (*os.Root, string, error) {
	if err := checkFileName(name); err != nil {
		return nil, "", err
	}
	if dir := path.Dir(name); dir != "." {
		if err := d.root.MkdirAll(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, "", err
		}
	}
	return d.parent(name)
}

func saveIn(at *os.Root, base, text, had string) (err error) {
	now, err := compare(at, base, had)
	if err != nil {
		return err
	}
	temp := "." + base
	if len(temp) > maxName-32 {
		temp = ".ccm-studio"
	}
	temp += "." + guard.RandomText(8)
	f, err := at.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, at.Remove(temp))
		}
	}()
	err = fill(f, text, now.info)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if beforeRename != nil {
		beforeRename()
	}
	if _, err = compare(at, base, had); err != nil {
		return err
	}
	if had == "" { // there must still be no file
		if err = at.Link(temp, base); err != nil {
			return err
		}
		err = at.Remove(temp)
	} else {
		err = at.Rename(temp, base)
	}
	if err != nil {
		return err
	}
	dir, err := at.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// compare returns the present file, or a *changedError if it differs from the expected one.
func compare(at *os.Root, base, had string) (fileText, error) {
	now, err := readIn(at, base)
	switch {
	case errors.Is(err, fs.ErrNotExist) && had == "":
		return now, nil
	case errors.Is(err, fs.ErrNotExist):
		return now, &changedError{gone: true}
	case err != nil:
		return now, err
	case now.digest != had:
		return now, &changedError{now: now}
	}
	return now, nil
}

// fill writes a file that replaces an old one; old is nil for none.
func fill(f *os.File, text string, old fs.FileInfo) error {
	mode := fs.FileMode(0o644) &^ umask()
	if old != nil {
		mode = old.Mode().Perm()
		st, ok := old.Sys().(*syscall.Stat_t)
		mine, err := f.Stat()
		if err != nil {
			return err
		}
		if now, both := mine.Sys().(*syscall.Stat_t); ok && both && (now.Uid != st.Uid || now.Gid != st.Gid) {
			if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
				return fmt.Errorf("cannot preserve owner and group: %w", bare(err))
			}
		}
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := io.WriteString(f, text); err != nil {
		return err
	}
	return f.Sync()
}

// remove removes a file.
func (d *directory) remove(name string) error {
	at, base, err := d.parent(name)
	if err != nil {
		return err
	}
	defer at.Close()
	f, _, err := openRegular(at, base)
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: bare(err)}
	}
	return errors.Join(f.Close(), at.Remove(base))
}
