package host

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A Scratch is a temporary directory outside of the managed machine, so code with only a View may
// use one. Nobody else can read it, and it is removed after use.
type Scratch struct {
	dir   string
	root  *os.Root
	files *safepath.Resolver
}

// WithScratch calls use with an empty directory, and removes it.
func (v *View) WithScratch(use func(s *Scratch) error) (err error) {
	dir, err := os.MkdirTemp("", "ccm-")
	if err != nil {
		return err
	}
	d, err := v.sources.Directory(dir)
	if err != nil {
		return safepath.PathError("open", dir, err)
	}
	defer d.Close()
	root, err := safepath.OpenOwn(dir, d)
	if err != nil {
		return err
	}
	v.scratches.Store(dir, true)
	defer func() {
		v.scratches.Delete(dir)
		err = errors.Join(err, root.Close(), safepath.Empty(d))
		if p, e := v.sources.At(dir); e == nil {
			err = errors.Join(err, safepath.RemoveEmpty(p, d))
			p.Close()
		}
	}()
	return use(&Scratch{dir, root, v.sources})
}

// inScratch reports whether a path of the operating system is a scratch directory or below one.
func (m *machine) inScratch(name string) (in bool) {
	m.scratches.Range(func(dir, _ any) bool {
		rest, below := strings.CutPrefix(name, dir.(string))
		in = below && (rest == "" || rest[0] == '/')
		return !in
	})
	return in
}

// Path returns the path of rel for the operating system. [Sources] can read it.
func (s *Scratch) Path(rel string) string { return filepath.Join(s.dir, rel) }

// WriteFile writes a file and makes the directories above it.
func (s *Scratch) WriteFile(rel string, content []byte) error {
	if err := s.MakeDirectory(filepath.Dir(rel)); err != nil {
		return err
	}
	return s.root.WriteFile(rel, content, 0o600)
}

// copyFile writes a file with all that r has.
func (s *Scratch) copyFile(rel string, r io.Reader) error {
	f, err := s.root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// MakeDirectory makes a directory and those above it.
func (s *Scratch) MakeDirectory(rel string) error { return s.root.MkdirAll(rel, 0o700) }

// SetMode sets the permissions of a file or directory.
func (s *Scratch) SetMode(rel string, mode uint32) error {
	return s.root.Chmod(rel, safepath.FileMode(mode))
}

// Tree lists everything below a directory, in order of path.
func (s *Scratch) Tree(rel string) ([]safepath.TreeEntry, error) {
	d, err := s.files.Directory(s.Path(rel))
	if err != nil {
		return nil, safepath.PathError("open", s.Path(rel), err)
	}
	defer d.Close()
	return safepath.ListTree(d, nil)
}

// Info describes the entry at rel, without following a link.
func (s *Scratch) Info(rel string) (safepath.Info, error) {
	info, err := s.files.Lstat(s.Path(rel))
	return info, safepath.PathError("lstat", s.Path(rel), err)
}
