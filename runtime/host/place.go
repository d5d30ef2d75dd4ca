package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// place moves what was unpacked to where it belongs: each file, link and
// directory that has no place yet in one step, a directory with all that is in
// it. The one with the last entry in it comes last, after all others are
// durable.
func (s *stage) place(ctx context.Context) error {
	s.sorted = s.names()
	units, last, err := s.units()
	if err != nil {
		return err
	}
	if err := s.setModes(units); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.tell(units); err != nil {
		return err
	}
	for _, name := range units {
		if name == last {
			continue
		}
		if err := s.move(name); err != nil {
			return err
		}
	}
	if err := s.sync(); err != nil || last == "" {
		return err
	}
	if err := s.move(last); err != nil {
		return err
	}
	return s.h.syncDir(s.full(last))
}

// units returns the entries to move, in order, and the one of them to move last,
// "" if that does not matter. An error means that an entry cannot have its
// place.
func (s *stage) units() (units []string, last string, err error) {
	wanted, err := filepath.Rel(s.x.Parent, s.x.Last)
	if s.x.Last == "" || err != nil {
		wanted = ""
	}
	for _, name := range s.sorted {
		if inUnit(units, parentOf(name)) {
			continue
		}
		there, err := s.fits(name)
		if err != nil {
			return nil, "", err
		}
		if there && s.kinds[name] == Directory {
			continue
		}
		units = append(units, name)
		if wanted == name || strings.HasPrefix(wanted, name+"/") {
			last = name
		}
	}
	return units, last, nil
}

// setModes gives the directories that are moved their permissions, the deepest
// first. Those that only files are moved from stay as they are.
func (s *stage) setModes(units []string) error {
	for _, name := range slices.Backward(s.sorted) {
		if s.kinds[name] != Directory || !inUnit(units, name) {
			continue
		}
		mode, ok := s.modes[name]
		if !ok {
			mode = 0o755
		}
		if err := s.chmod(s.root, name, mode); err != nil {
			return err
		}
	}
	return nil
}

// inUnit reports whether name is one of the units, which are in order, or in one
// of them.
func inUnit(units []string, name string) bool {
	for ; name != ""; name = parentOf(name) {
		if _, ok := slices.BinarySearch(units, name); ok {
			return true
		}
	}
	return false
}

// fits reports whether something stands already where an entry belongs, and an
// error if the entry cannot take its place.
func (s *stage) fits(name string) (there bool, err error) {
	fi, err := s.parent.Lstat(name)
	if err == nil && s.kinds[name] == Directory && fi.Mode()&os.ModeSymlink != 0 {
		fi, err = s.parent.Stat(name) // a link inside the parent to a directory will do
		if errors.Is(err, os.ErrNotExist) {
			return true, fmt.Errorf("%s: want a directory, found a symbolic link to nothing", s.full(name))
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case errors.Is(err, syscall.ENOTDIR):
		return false, fmt.Errorf("%s: want a directory, found something else", s.full(parentOf(name)))
	case err != nil:
		return false, fmt.Errorf("%s: a symbolic link on the way leads out of %s, or cannot be followed: %w", s.full(name), s.x.Parent, err)
	case (s.kinds[name] == Directory) != fi.IsDir():
		return true, fmt.Errorf("%s: want %s, found %s", s.full(name), s.kinds[name], kindOf(fi))
	case !fi.IsDir() && kindOf(fi) == Special:
		return true, fmt.Errorf("%s: want a file, found %s", s.full(name), Special)
	}
	return true, nil
}

func kindOf(fi os.FileInfo) FileKind {
	switch {
	case fi.IsDir():
		return Directory
	case fi.Mode().IsRegular():
		return Regular
	case fi.Mode()&os.ModeSymlink != 0:
		return Symlink
	}
	return Special
}

// full returns the path of an entry as the machine sees it.
func (s *stage) full(name string) string { return path.Join(s.x.Parent, name) }

// move gives an entry its place. A directory that its owner may not write to
// can only be moved by root, so for others it is writable meanwhile.
func (s *stage) move(name string) error {
	rename := func() error {
		return s.do("rename", name, func() error { return s.parent.Rename(s.dir+"/"+name, name) })
	}
	err := rename()
	mode := s.modes[name]
	if s.kinds[name] != Directory || !errors.Is(err, os.ErrPermission) || mode&0o200 != 0 {
		return err
	}
	if err := s.chmod(s.root, name, mode|0o700); err != nil {
		return err
	}
	if err := rename(); err != nil {
		return err
	}
	return s.chmod(s.parent, name, mode)
}

// tell says what is about to be replaced, and what is about to be new.
func (s *stage) tell(units []string) error {
	if s.h.keep == nil {
		return nil
	}
	var all []Doomed
	for _, name := range s.sorted {
		if !inUnit(units, name) {
			continue
		}
		info, err := s.h.Lstat(s.full(name))
		if err != nil {
			return err
		}
		all = append(all, Doomed{Path: s.full(name), Info: info, Content: true, For: s.h.on, More: true})
	}
	for i, d := range all {
		d.More = i < len(all)-1
		if err := s.h.keep(&s.h.View, d); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) chmod(root *os.Root, name string, mode uint32) error {
	return s.do("chmod", name, func() error { return root.Chmod(name, fileMode(mode)) })
}

// sync makes everything that was written durable. One call for all of it takes a
// fraction of what one for each file would.
func (s *stage) sync() error {
	return s.do("sync", "", func() error { return unix.Syncfs(int(s.lock.Fd())) })
}
