package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// A Scratch is a directory to work in that is not part of the machine that is
// managed: whoever may only look may use one. Nobody else can read it, and it
// is removed after use.
type Scratch struct{ dir string }

// Scratch calls use with an empty directory, and removes it.
func (v *View) Scratch(use func(s *Scratch) error) (err error) {
	dir, err := os.MkdirTemp("", "ccm-")
	if err != nil {
		return err
	}
	v.scratches.Store(dir, true)
	defer func() {
		v.scratches.Delete(dir)
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	return use(&Scratch{dir})
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
	return os.WriteFile(s.Path(rel), content, 0o600)
}

// MakeDirectory makes a directory and those above it.
func (s *Scratch) MakeDirectory(rel string) error { return os.MkdirAll(s.Path(rel), 0o700) }

// SetMode sets the permissions of what is there.
func (s *Scratch) SetMode(rel string, mode uint32) error {
	return os.Chmod(s.Path(rel), fileMode(mode))
}

// Tree lists everything below a directory in order of path.
func (s *Scratch) Tree(rel string) ([]TreeEntry, error) { return listTree(s.Path(rel)) }

// Info describes what stands there, without following a link.
func (s *Scratch) Info(rel string) (Info, error) { return infoAt(s.Path(rel)) }
