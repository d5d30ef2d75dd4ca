package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A TreeEntry is something below a directory.
type TreeEntry struct {
	Rel string // its path from there
	Info
}

// Tree lists everything below the directory at the path, in order of path,
// directories before what is in them. Links are listed and not followed. What
// cannot be read is left out, and is part of the error. In a plan, what is
// assumed counts.
func (v *View) Tree(name string) ([]TreeEntry, error) {
	if o := v.planned(); o != nil {
		return o.tree(v, name, false)
	}
	path, err := v.real(name)
	if err != nil {
		return nil, err
	}
	return listTree(path)
}

// SourceTree is Tree for a directory that the user names as a source: it lies
// outside the root, and a link to it is followed.
func (v *View) SourceTree(dir string) ([]TreeEntry, error) {
	if name, ok := v.plannedSource(dir); ok {
		return v.plan.sourceTree(v, dir, name)
	}
	fi, err := os.Stat(dir)
	if err == nil && !fi.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if err != nil {
		return nil, err
	}
	return listTree(dir + "/")
}

// listTree lists what is below a directory of the operating system.
func listTree(dir string) ([]TreeEntry, error) {
	var entries []TreeEntry
	var errs []error
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) && path != dir {
			return nil // gone since it was listed
		}
		if err != nil && path != dir {
			errs = append(errs, err)
			return fs.SkipDir
		}
		if err != nil || path == dir {
			return err
		}
		info, err := infoAt(path)
		if err != nil {
			errs = append(errs, err)
		} else if info.Kind != Missing {
			entries = append(entries, TreeEntry{mustRel(dir, path), info})
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b TreeEntry) int { return cmp.Compare(a.Rel, b.Rel) })
	return entries, errors.Join(append(errs, err)...)
}

// infoAt describes what stands at a path of the operating system.
func infoAt(path string) (Info, error) {
	var st syscall.Stat_t
	err := ignoringEINTR(func() error { return syscall.Lstat(path, &st) })
	switch {
	case errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR):
		return Info{}, nil
	case err != nil:
		return Info{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return infoOf(&st), nil
}

// RemoveBelow removes the file, link or empty directory at rel below the
// directory dir. No link on the way leads out of dir, whatever is done to it
// meanwhile. What is not there is not an error.
func (h *Host) RemoveBelow(dir, rel string) error {
	where, err := h.resolve(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(where)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Join(dir, rel)
	h.log.Debug("remove", "path", name)
	if err := h.doomed(name, true); err != nil {
		return err
	}
	err = h.do("remove", name, func() error { return root.Remove(rel) })
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
