package unpack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// place moves the unpacked entries to their paths: each file, link and new directory in one step,
// a directory with everything in it. The unit with Options.Last comes last, once all others are
// durable.
func (s *stage) place(ctx context.Context) error {
	s.paths = s.names()
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
	return s.syncLast(last)
}

// units returns the entries to move, in order, and the one to move last, "" if that does not
// matter. An error means that an entry cannot be moved to its path.
func (s *stage) units() (units []string, last string, err error) {
	wanted, err := filepath.Rel(s.x.Parent, s.x.Last)
	if s.x.Last == "" || err != nil {
		wanted = ""
	}
	for _, name := range s.paths {
		if inUnit(units, parentOf(name)) {
			continue
		}
		there, err := s.fits(name)
		if err != nil {
			return nil, "", err
		}
		if there && s.kinds[name] == safepath.Directory {
			continue
		}
		units = append(units, name)
		if wanted == name || strings.HasPrefix(wanted, name+"/") {
			last = name
		}
	}
	return units, last, nil
}

// setModes sets the permissions of the directories that are moved, the deepest first. Existing
// directories stay as they are.
func (s *stage) setModes(units []string) error {
	for _, name := range slices.Backward(s.paths) {
		if s.kinds[name] != safepath.Directory || !inUnit(units, name) {
			continue
		}
		mode, ok := s.modes[name]
		if !ok {
			mode = 0o755
		}
		if err := s.chmod(name, mode); err != nil {
			return err
		}
	}
	return nil
}

// inUnit reports whether name is one of the units, which are in order, or below one.
func inUnit(units []string, name string) bool {
	for ; name != ""; name = parentOf(name) {
		if _, ok := slices.BinarySearch(units, name); ok {
			return true
		}
	}
	return false
}

// fits reports whether the path of an entry exists. The error means that the entry cannot replace
// what is there.
func (s *stage) fits(name string) (there bool, err error) {
	info, err := s.look(name, false)
	if err == nil && s.kinds[name] == safepath.Directory && info.Kind == safepath.Symlink {
		info, err = s.look(name, true) // a link to a directory inside the parent is good too
		if errors.Is(err, os.ErrNotExist) {
			return true, fmt.Errorf("%s: %w", s.full(name), diag.Expected("a directory").Found("a symbolic link without target"))
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case errors.Is(err, syscall.ENOTDIR):
		return false, fmt.Errorf("%s: %w", s.full(parentOf(name)), diag.Expected("a directory").Found("something else"))
	case err != nil:
		return false, fmt.Errorf("%s: a symbolic link in its path points outside of %s or is broken: %w", s.full(name), s.x.Parent, err)
	case (s.kinds[name] == safepath.Directory) != (info.Kind == safepath.Directory):
		return true, fmt.Errorf("%s: %w", s.full(name), diag.Expected("%s", s.kinds[name]).Found("%s", info.Kind))
	case info.Kind == safepath.Special:
		return true, fmt.Errorf("%s: %w", s.full(name), diag.Expected("a file").Found("%s", safepath.Special))
	}
	return true, nil
}

// look describes what is at the path of an entry. With follow, a link at the end is followed.
func (s *stage) look(name string, follow bool) (safepath.Info, error) {
	p, err := s.h.Resolver().Beneath(s.parent).To(name, follow)
	if err != nil {
		return safepath.Info{}, err
	}
	defer p.Close()
	return s.h.Resolver().StatAt(p)
}

// directory returns the resolved path of the directory with a name in the archive. A missing
// directory will be made, so it is no link. Known is a cache of results.
func (s *stage) directory(name string, known map[string]string) string {
	if name == "" {
		return s.parent.Path
	}
	dir, ok := known[name]
	if !ok {
		p, err := s.h.Resolver().Beneath(s.parent).To(name, true)
		if err == nil {
			dir = p.Path()
			p.Close()
		} else {
			dir = path.Join(s.directory(parentOf(name), known), path.Base(name))
		}
		known[name] = dir
	}
	return dir
}

// full returns the path of an entry on the machine.
func (s *stage) full(name string) string { return path.Join(s.x.Parent, name) }

// move moves an entry to its path. Only root can move a directory that its owner may not write
// to, so for others it is made writable meanwhile.
func (s *stage) move(name string) error {
	from, err := s.h.Resolver().Beneath(s.top).To(name, false)
	if err != nil {
		return safepath.PathError("open", s.full(name), err)
	}
	defer from.Close()
	to, err := s.h.Resolver().Beneath(s.parent).To(name, false)
	if err != nil {
		return safepath.PathError("open", s.full(name), err)
	}
	defer to.Close()
	return s.moveTo(name, from, to, safepath.Rename)
}

// moveTo is move from one place to another.
func (s *stage) moveTo(name string, from, to safepath.Location, rename func(from, to safepath.Location) error) error {
	moving := func() error { return s.do("rename", name, func() error { return rename(from, to) }) }
	mode := s.modes[name]
	if s.kinds[name] != safepath.Directory || mode&0o200 != 0 {
		return moving()
	}
	d, err := from.OpenDirectory()
	if err != nil {
		return safepath.PathError("open", s.full(name), err)
	}
	defer d.Close()
	if err = moving(); !errors.Is(err, os.ErrPermission) {
		return err
	}
	if err := s.chmodOpen(d, name, mode|0o700); err != nil {
		return err
	}
	if err := moving(); err != nil {
		return err
	}
	return s.chmodOpen(d, name, mode)
}

// chmodOpen sets the permissions of an open entry.
func (s *stage) chmodOpen(d *safepath.Handle, name string, mode uint32) error {
	return s.do("chmod", name, func() error { return safepath.PathError("chmod", s.full(name), d.Chmod(mode)) })
}

// tell announces the entries that are about to be replaced, and the new ones.
func (s *stage) tell(units []string) error {
	if !s.h.WatchesChanges() {
		return nil
	}
	var all []host.PreImage
	dirs := make(map[string]string)
	for _, name := range s.paths {
		if !inUnit(units, name) {
			continue
		}
		info, err := s.look(name, false)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			return safepath.PathError("lstat", s.full(name), err)
		}
		all = append(all, host.PreImage{Path: s.full(name), Dir: s.directory(parentOf(name), dirs), Info: info, Content: true})
	}
	for i, d := range all {
		d.More = i < len(all)-1
		if err := s.h.BeforeChange(d); err != nil {
			return err
		}
	}
	return nil
}

// chmod sets the permissions of an entry in the stage.
func (s *stage) chmod(name string, mode uint32) error {
	return s.do("chmod", name, func() error { return s.root.Chmod(name, safepath.FileMode(mode)) })
}

// sync makes all written files durable. One call for all takes a fraction of the time of one for
// each. On systems without such a call, each file was made durable when it was written.
func (s *stage) sync() error {
	return s.do("sync", "", func() error {
		if safepath.SyncsFileSystems {
			return safepath.SyncFileSystem(int(s.lock.Fd()))
		}
		return s.syncDirectories()
	})
}

// syncDirectories makes the names of all files in the stage durable.
func (s *stage) syncDirectories() error {
	return fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		f, err := s.root.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// syncLast makes the name of the last entry durable.
func (s *stage) syncLast(name string) error {
	p, err := s.h.Resolver().Beneath(s.parent).To(name, false)
	if err != nil {
		return safepath.PathError("open", s.full(name), err)
	}
	defer p.Close()
	return s.h.SyncDirectory(s.full(name), p.Dir)
}
