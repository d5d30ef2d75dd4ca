package host

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
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
	p, err := v.files.at(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	defer p.close()
	entries, err := treeAt(p)
	return entries, pathError("open", name, err)
}

// SourceTree is Tree for a directory that the user names as a source: it lies
// outside the root, and a link to it is followed.
func (v *View) SourceTree(dir string) ([]TreeEntry, error) {
	if name, ok := v.plannedSource(dir); ok {
		return v.plan.sourceTree(v, dir, name)
	}
	d, err := v.sources.directory(dir)
	if err == unix.ENOTDIR {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	if err != nil {
		return nil, pathError("stat", dir, err)
	}
	defer d.close()
	return listTree(d)
}

// treeAt lists what is below the directory at a place. What is no directory has nothing
// below it.
func treeAt(p location) ([]TreeEntry, error) {
	d, err := p.openDirectory()
	if err == unix.ENOTDIR || err == unix.ELOOP {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.close()
	return listTree(d)
}

// listTree lists what is below a directory.
func listTree(top *handle) ([]TreeEntry, error) {
	var entries []TreeEntry
	var errs []error
	var list func(d *handle, rel string)
	list = func(d *handle, rel string) {
		err := eachIn(d, func(p location, info Info) error {
			at := filepath.Join(rel, p.name)
			entries = append(entries, TreeEntry{at, info})
			if info.Kind != Directory {
				return nil
			}
			sub, err := p.openDirectory()
			if err == nil {
				defer sub.close()
				list(sub, at)
			} else if err := unlessGone(pathError("open", p.path(), err)); err != nil {
				errs = append(errs, err)
			}
			return nil
		})
		if err != nil {
			errs = append(errs, pathError("open", d.path, err))
		}
	}
	list(top, "")
	slices.SortFunc(entries, func(a, b TreeEntry) int { return cmp.Compare(a.Rel, b.Rel) })
	return entries, errors.Join(errs...)
}

// openDirectory opens the directory at a place, which must not be a link.
func (p location) openDirectory() (*handle, error) {
	fd, err := p.open(unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return newHandle(fd, p.path())
}

// namesIn returns the names in a directory.
func namesIn(d *handle) ([]string, error) {
	fd, err := location{dir: d, name: "."}.open(unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer f.Close()
	return f.Readdirnames(-1)
}

// eachIn calls do for everything in a directory that is still there.
func eachIn(d *handle, do func(p location, info Info) error) error {
	names, err := namesIn(d)
	if err != nil {
		return err
	}
	for _, name := range names {
		p := location{dir: d, name: name}
		info, err := p.stat()
		if err == nil && info.Kind != Missing {
			err = do(p, info)
		}
		if err != nil {
			return pathError("lstat", p.path(), err)
		}
	}
	return nil
}
