package studio

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/studio/guard"
)

const (
	maxName  = 255
	maxDepth = 16
	// maxText is the largest file that is opened.
	maxText = 8 << 20
)

// A directory is what is shown of the site: the regular files below it. Nothing outside of it
// is read or written, whatever links lie in it and whoever exchanges them meanwhile (os.Root),
// and links inside of it are not followed either.
type directory struct {
	path string
	root *os.Root
}

func openDirectory(path string) (*directory, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &directory{path, root}, nil
}

// checkFileName returns an error if a name cannot be that of a file of the site.
func checkFileName(name string) error {
	bad := func(why string) error { return diag.Errorf(diag.Pos{}, "the name %q: %s", name, why) }
	switch {
	case name == "":
		return bad("it is empty")
	case !utf8.ValidString(name):
		return bad("it is no text")
	case !fs.ValidPath(name) || name == ".":
		return bad("want one relative to the directory, without ..")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\\' }):
		return bad("it has a control character or a backslash")
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return bad("it is too deep")
	}
	for _, part := range parts {
		if len(part) > maxName {
			return bad("it is too long")
		}
	}
	return nil
}

var (
	errLink       = errors.New("it is a link, and links are not followed")
	errNotRegular = errors.New("it is no regular file")
	errTooLarge   = fmt.Errorf("it has more than %d MiB", maxText>>20)
	errExchanged  = errors.New("it was exchanged meanwhile")
)

// parent opens the directory in which a file lies, without following links. It must be closed.
func (d *directory) parent(name string) (*os.Root, string, error) {
	if err := checkFileName(name); err != nil {
		return nil, "", err
	}
	at, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, "", err
	}
	dir, base := path.Split(name)
	for _, part := range strings.Split(strings.TrimSuffix(dir, "/"), "/") {
		if part == "" {
			continue
		}
		below, err := openBelow(at, part)
		_ = at.Close() // it was only looked at
		if err != nil {
			return nil, "", &fs.PathError{Op: "open", Path: name, Err: bare(err)}
		}
		at = below
	}
	return at, base, nil
}

// openBelow opens a directory in another one. What was opened must be what stands there by
// itself: a link that took its place leads to something else.
func openBelow(at *os.Root, part string) (*os.Root, error) {
	fi, err := at.Lstat(part)
	switch {
	case err != nil:
		return nil, err
	case fi.Mode().Type() == fs.ModeSymlink:
		return nil, errLink
	case !fi.IsDir():
		return nil, syscall.ENOTDIR
	}
	below, err := at.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	opened, err := below.Stat(".")
	if err == nil && !os.SameFile(fi, opened) {
		err = errExchanged
	}
	if err != nil {
		_ = below.Close()
		return nil, err
	}
	return below, nil
}

// bare returns an error without the path in it.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// A fileText is what a file holds.
type fileText struct {
	text   string
	digest string
	info   fs.FileInfo
}

// read returns what a file holds.
func (d *directory) read(name string) (fileText, error) {
	at, base, err := d.parent(name)
	if err != nil {
		return fileText{}, err
	}
	defer at.Close()
	t, err := readIn(at, base)
	if err != nil {
		err = &fs.PathError{Op: "open", Path: name, Err: bare(err)}
	}
	return t, err
}

// readIn is read for a file in an open directory.
func readIn(at *os.Root, base string) (fileText, error) {
	f, fi, err := openRegular(at, base)
	if err != nil {
		return fileText{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	switch {
	case err != nil:
		return fileText{}, err
	case len(b) > maxText:
		return fileText{}, errTooLarge
	case !utf8.Valid(b):
		return fileText{}, errors.New("it is no text in UTF-8")
	}
	return fileText{string(b), digestOf(string(b)), fi}, nil
}

// openRegular opens a regular file for reading. O_NONBLOCK: a pipe that took its place is not
// waited for.
func openRegular(at *os.Root, base string) (*os.File, fs.FileInfo, error) {
	fi, err := at.Lstat(base)
	switch {
	case err != nil:
		return nil, nil, err
	case fi.Mode().Type() == fs.ModeSymlink:
		return nil, nil, errLink
	case !fi.Mode().IsRegular():
		return nil, nil, errNotRegular
	case fi.Size() > maxText:
		return nil, nil, errTooLarge
	}
	f, err := at.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(fi, opened) {
		err = errExchanged
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, opened, nil
}

// digestOf returns the SHA-256 of a text.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A changedError says that a file is not what it was when it was read.
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

// beforeRename is called when all is written and before the file is replaced. It is nil but in
// tests.
var beforeRename func()

// save replaces a file in one step. It must hold what had names, "" if there must be none, or
// the error is a *changedError. Its owner and mode stay; a new file is for its owner alone to
// write.
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

// makeParent is parent, and makes the directories that are missing.
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
	if had == "" { // it must still not be there
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

// compare returns what a file is now, or a *changedError if it is not what it was.
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

// fill writes a file that takes the place of another one, or of none if that is nil.
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
				return fmt.Errorf("its owner and group cannot be kept: %w", bare(err))
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
