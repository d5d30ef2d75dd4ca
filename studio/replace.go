package studio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/luaccm/ccm/runtime/atomicfile"
	"github.com/luaccm/ccm/runtime/diag"
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

func saveIn(at *os.Root, base, text, had string) error {
	now, err := compare(at, base, had)
	if err != nil {
		return err
	}
	check := func() error {
		if beforeRename != nil {
			beforeRename()
		}
		_, err := compare(at, base, had)
		return err
	}
	o := atomicfile.Options{Durable: true, Shared: true, New: had == "", Check: check} // without old content there must still be no file
	return atomicfile.Replace(at, base, o, func(f *os.File) error { return fill(f, text, now.info) })
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
				return diag.Cannot("preserve", "owner and group", bare(err))
			}
		}
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	_, err := io.WriteString(f, text)
	return err
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
