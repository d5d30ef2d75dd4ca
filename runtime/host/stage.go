package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A stage is the directory inside the parent into which an archive is unpacked.
// Both are held open as an os.Root, which no path and no link leads out of.
type stage struct {
	*layout
	h            *Host
	x            Extraction
	dir          string // of the stage, in the parent
	parent, root *os.Root
	lock         *os.File

	entries int
	bytes   int64
	sorted  []string // all paths in order, once everything is unpacked
}

// stageName returns the name of the stage for an archive.
func stageName(archive string) string {
	const suffix = ".ccm-extract"
	base := filepath.Base(archive)
	return "." + base[:min(len(base), 255-len(suffix)-1)] + suffix
}

// newStage makes an empty stage. One that is there and not locked was left by a
// run that died, and is removed.
func (h *Host) newStage(archive string, x Extraction) (_ *stage, err error) {
	where, err := h.resolve(x.Parent)
	if err != nil {
		return nil, err
	}
	s := &stage{layout: newLayout(), h: h, x: x, dir: stageName(archive)}
	if s.parent, err = os.OpenRoot(where); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stage) open() error {
	if old, err := s.parent.Open(s.dir); err == nil {
		busy := syscall.Flock(int(old.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
		old.Close()
		if busy {
			return fmt.Errorf("%s is being extracted to by another process", s.x.Parent)
		}
	}
	if err := s.remove(); err != nil {
		return err
	}
	if err := s.do("mkdir", s.dir, func() error { return s.parent.Mkdir(s.dir, 0o700) }); err != nil {
		return err
	}
	var err error
	if s.root, err = s.parent.OpenRoot(s.dir); err != nil {
		return err
	}
	if s.lock, err = s.root.Open("."); err != nil {
		return err
	}
	return syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// do is an effect on a path in the parent.
func (s *stage) do(op, name string, effect func() error) error {
	return s.h.do(op, path.Join(s.x.Parent, name), effect)
}

// discard removes the stage and what is left in it.
func (s *stage) discard() error { return errors.Join(s.remove(), s.close()) }

func (s *stage) remove() error {
	return s.do("remove", s.dir, func() error {
		err := s.parent.RemoveAll(s.dir)
		if !errors.Is(err, os.ErrPermission) {
			return err
		}
		// Directories that may not be written to cannot be emptied, but by root.
		_ = fs.WalkDir(s.parent.FS(), s.dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = s.parent.Chmod(name, 0o700)
			}
			return err
		})
		return s.parent.RemoveAll(s.dir)
	})
}

func (s *stage) close() error {
	if s.lock != nil {
		s.lock.Close()
	}
	if s.root != nil {
		s.root.Close()
	}
	return s.parent.Close()
}

// add unpacks one entry.
func (s *stage) add(e entry) error {
	s.entries++
	name, err := entryName(e.name)
	if err == nil {
		err = s.checkEntries()
	}
	if err != nil {
		return err
	}
	if name == "" {
		if e.kind != Directory {
			return errors.New("is the directory itself, and no directory in the archive")
		}
		return nil
	}
	if name == s.dir || strings.HasPrefix(name, s.dir+"/") {
		return errors.New("has the name of the directory for unpacking")
	}
	var target string
	if e.hardLink {
		if target, err = s.linked(name, &e); err != nil {
			return err
		}
	}
	replaces, err := s.put(name, e.kind)
	if err != nil {
		return err
	}
	if err := s.checkEntries(); err != nil {
		return err
	}
	if replaces {
		if e.unique {
			return errors.New("is in the archive twice")
		}
		if err := s.root.Remove(name); err != nil {
			return err
		}
	}
	if dir := parentOf(name); dir != "" {
		if err := s.root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	switch {
	case e.kind == Directory:
		s.modes[name] = e.mode & 0o777
		return s.do("mkdir", name, func() error { return s.root.MkdirAll(name, 0o700) })
	case e.kind == Symlink:
		if e.target == "" || len(e.target) > maxLinkLen || strings.ContainsRune(e.target, 0) {
			return errors.New("is a symbolic link to nowhere")
		}
		s.links[name] = e.target
		return s.do("symlink", name, func() error { return s.root.Symlink(e.target, name) })
	case e.hardLink:
		return s.do("link", name, func() error { return s.root.Link(target, name) })
	}
	return s.do("write", name, func() error { return s.write(name, e) })
}

// checkEntries returns an error if the archive holds more entries than it may, or
// makes more: directories that no entry is about count too.
func (s *stage) checkEntries() error {
	if limit := s.x.MaxEntries; limit > 0 && max(s.entries, len(s.kinds)) > limit {
		return &LimitError{Entries: true, Limit: int64(limit)}
	}
	return nil
}

// linked returns the entry that a hard link is another name of. If that is a
// symbolic link, so becomes e.
func (s *stage) linked(name string, e *entry) (string, error) {
	target, err := entryName(e.target)
	if err != nil {
		return "", fmt.Errorf("is a hard link to %q, which %w", e.target, err)
	}
	kind := s.kinds[target]
	if kind != Regular && kind != Symlink || target == name {
		return "", fmt.Errorf("is a hard link to %q, which is not a file earlier in the archive", e.target)
	}
	if kind == Symlink {
		e.kind, e.hardLink, e.target = Symlink, false, s.links[target]
	}
	return target, nil
}

// write unpacks a file.
func (s *stage) write(name string, e entry) (err error) {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	body := e.body
	if s.x.MaxBytes > 0 {
		body = io.LimitReader(body, s.x.MaxBytes-s.bytes+1)
	}
	n, err := io.Copy(f, body)
	if s.bytes += n; s.x.MaxBytes > 0 && s.bytes > s.x.MaxBytes {
		return &LimitError{Limit: s.x.MaxBytes}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the archive is cut short")
	}
	if err != nil {
		return err
	}
	if err := f.Chmod(fileMode(e.mode & 0o777)); err != nil {
		return err
	}
	if e.mtime.IsZero() || e.mtime.Unix() <= 0 {
		return nil
	}
	return s.root.Chtimes(name, time.Time{}, e.mtime)
}
