package safepath

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// A TreeEntry is a file below a directory.
type TreeEntry struct {
	Rel string // path relative to the directory
	Info
}

// TreeAt lists all files below a directory; the list of any other file is empty.
func TreeAt(p Location, r *NameReader) ([]TreeEntry, error) {
	d, err := p.OpenDirectory()
	if err == unix.ENOTDIR || err == unix.ELOOP {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return ListTree(d, r)
}

// ListTree lists all files below a directory, sorted by path. Directories that cannot be read are left out and
// reported in the error. If r ends, the list is nil.
func ListTree(top *Handle, r *NameReader) ([]TreeEntry, error) {
	var entries []TreeEntry
	var errs []error
	var list func(d *Handle, rel string)
	list = func(d *Handle, rel string) {
		err := eachIn(d, r, func(p Location, info Info) error {
			at := filepath.Join(rel, p.Name)
			entries = append(entries, TreeEntry{at, info})
			if info.Kind != Directory {
				return nil
			}
			sub, err := r.open(p)
			if err == nil {
				defer sub.Close()
				list(sub, at)
			} else if err := UnlessGone(PathError("open", p.Path(), err)); err != nil {
				errs = append(errs, err)
			}
			return nil
		})
		if err != nil {
			errs = append(errs, PathError("open", d.Path, err))
		}
	}
	list(top, "")
	if err := r.Ended(); err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b TreeEntry) int { return cmp.Compare(a.Rel, b.Rel) })
	return entries, errors.Join(errs...)
}

// open opens a directory that is part of a listing. The length of its path is limited, or directories nested by the
// hundred thousand would take all memory with their paths.
func (r *NameReader) open(p Location) (*Handle, error) {
	if r != nil && len(p.Path()) >= unix.PathMax {
		return nil, unix.ENAMETOOLONG
	}
	return p.OpenDirectory()
}

// NamesIn returns the names in a directory.
func NamesIn(d *Handle) ([]string, error) { return namesIn(d, nil) }

func namesIn(d *Handle, r *NameReader) ([]string, error) {
	if err := r.Look(); err != nil {
		return nil, err
	}
	fd, err := Location{Dir: d, Name: "."}.Open(unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.Path)
	defer f.Close()
	return r.Names(f)
}

// EachIn calls do for each file in a directory that still exists.
func EachIn(d *Handle, do func(p Location, info Info) error) error { return eachIn(d, nil, do) }

func eachIn(d *Handle, r *NameReader, do func(p Location, info Info) error) error {
	names, err := namesIn(d, r)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.Look(); err != nil {
			return err
		}
		p := Location{Dir: d, Name: name}
		info, err := p.Stat()
		if err == nil && info.Kind != Missing {
			err = do(p, info)
		}
		if err != nil {
			return PathError("lstat", p.Path(), err)
		}
	}
	return nil
}
