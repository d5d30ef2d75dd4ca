package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A Scratch is a directory to work in that is not part of the machine that is
// managed: whoever may only look may use one. Nobody else can read it, and it
// is removed after use.
type Scratch struct {
	dir   string
	root  *os.Root
	files *walker
}

// Scratch calls use with an empty directory, and removes it.
func (v *View) Scratch(use func(s *Scratch) error) (err error) {
	dir, err := os.MkdirTemp("", "ccm-")
	if err != nil {
		return err
	}
	d, err := v.sources.directory(dir)
	if err != nil {
		return pathError("open", dir, err)
	}
	defer d.close()
	root, err := ownRoot(dir, d)
	if err != nil {
		return err
	}
	v.scratches.Store(dir, true)
	defer func() {
		v.scratches.Delete(dir)
		err = errors.Join(err, root.Close(), empty(d))
		if p, e := v.sources.at(dir); e == nil {
			err = errors.Join(err, removeEmpty(p, d))
			p.close()
		}
	}()
	return use(&Scratch{dir, root, v.sources})
}

// ownRoot opens the directory at a path of the operating system, which is open as d and
// was made just now. Nobody else can have anything to do with what is in it.
func ownRoot(dir string, d *handle) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	top, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	defer top.Close()
	var st unix.Stat_t
	err = unix.Fstat(int(top.Fd()), &st)
	own, _ := self()
	if err == nil && (st.Dev != d.st.Dev || st.Ino != d.st.Ino || st.Uid != own || st.Mode&0o077 != 0) {
		err = &os.PathError{Op: "open", Path: dir, Err: errMoved}
	}
	if names, e := top.Readdirnames(1); err == nil && (len(names) > 0 || e == nil) {
		err = &os.PathError{Op: "open", Path: dir, Err: unix.ENOTEMPTY}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// inScratch reports whether a path of the operating system is that of a scratch
// directory, or of something in one.
func (m *machine) inScratch(name string) (in bool) {
	m.scratches.Range(func(dir, _ any) bool {
		rest, below := strings.CutPrefix(name, dir.(string))
		in = below && (rest == "" || rest[0] == '/')
		return !in
	})
	return in
}

// Path returns where rel is for the operating system. [View.OpenSource] and its
// like read what is there.
func (s *Scratch) Path(rel string) string { return filepath.Join(s.dir, rel) }

// WriteFile writes a file and makes the directories above it.
func (s *Scratch) WriteFile(rel string, content []byte) error {
	if err := s.MakeDirectory(filepath.Dir(rel)); err != nil {
		return err
	}
	return s.root.WriteFile(rel, content, 0o600)
}

// MakeDirectory makes a directory and those above it.
func (s *Scratch) MakeDirectory(rel string) error { return s.root.MkdirAll(rel, 0o700) }

// SetMode sets the permissions of what is there.
func (s *Scratch) SetMode(rel string, mode uint32) error {
	return s.root.Chmod(rel, fileMode(mode))
}

// Tree lists everything below a directory in order of path.
func (s *Scratch) Tree(rel string) ([]TreeEntry, error) {
	d, err := s.files.directory(s.Path(rel))
	if err != nil {
		return nil, pathError("open", s.Path(rel), err)
	}
	defer d.close()
	return listTree(d)
}

// Info describes what stands there, without following a link.
func (s *Scratch) Info(rel string) (Info, error) {
	info, err := infoOfOpen(s.files.open(s.Path(rel), unix.O_PATH))
	return info, pathError("lstat", s.Path(rel), err)
}
