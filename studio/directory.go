package studio

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
)

const (
	maxName  = 255
	maxDepth = 16
	// maxText is the most bytes of a file to open.
	maxText = 8 << 20
)

// A directory is the visible part of the site: the regular files below it. Nothing outside of it is
// read or written, even if links lead there or somebody exchanges files meanwhile (os.Root). Links
// inside of it are not followed either.
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

// checkFileName returns an error if a name is not valid for a file of the site.
func checkFileName(name string) error {
	bad := func(why string) error { return diag.Errorf(diag.Pos{}, "the name %q: %s", name, why) }
	switch {
	case name == "":
		return bad("empty name")
	case !utf8.ValidString(name):
		return bad("not text")
	case !fs.ValidPath(name) || name == ".":
		return bad(diag.Expected("a path relative to the directory, without ..").Error())
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\\' }):
		return bad("contains a control character or a backslash")
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return bad("nested too deeply")
	}
	for _, part := range parts {
		if len(part) > maxName {
			return bad("too long")
		}
	}
	return nil
}

var (
	errLink       = errors.New("a link, which is not followed")
	errNotRegular = diag.Not("", "a regular file")
	errTooLarge   = diag.Exceeds("text", "%d MiB", maxText>>20)
	errExchanged  = diag.Meanwhile("", "replaced")
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
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
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
		return fileText{}, diag.Not("", "UTF-8 text")
	}
	return fileText{string(b), digestOf(string(b)), fi}, nil
}

// openRegular opens a regular file for reading. O_NONBLOCK: opening does not hang on a pipe that
// has replaced the file.
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
