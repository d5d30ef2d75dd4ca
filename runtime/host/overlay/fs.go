package overlay

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/safepath"
)

// ioFS is the file system of a plan for io/fs.
type ioFS struct {
	o *View
	r *safepath.NameReader
}

var (
	_ fs.ReadDirFS = ioFS{}
	_ fs.StatFS    = ioFS{}
)

// Open implements fs.FS.
func (f ioFS) Open(name string) (fs.File, error) { return f.o.Open("/"+name, true) }

// Stat implements fs.StatFS.
func (f ioFS) Stat(name string) (fs.FileInfo, error) {
	if err := f.r.Look(); err != nil {
		return nil, err
	}
	p, err := f.o.look("/"+name, false, false)
	if err == nil && p.info.Kind == safepath.Missing {
		err = fs.ErrNotExist
	}
	return GlobEntry(name), err
}

// ReadDir implements fs.ReadDirFS.
func (f ioFS) ReadDir(name string) ([]fs.DirEntry, error) {
	names, err := f.o.ReadDir("/"+name, f.r)
	list := make([]fs.DirEntry, len(names))
	for i, n := range names {
		list[i] = GlobEntry(n)
	}
	return list, err
}

// A GlobEntry is a name. fs.Glob asks nothing else of it.
type GlobEntry string

// Name returns the name.
func (e GlobEntry) Name() string { return string(e) }

// IsDir returns false.
func (GlobEntry) IsDir() bool { return false }

// Type returns 0.
func (GlobEntry) Type() fs.FileMode { return 0 }

// Mode returns 0.
func (GlobEntry) Mode() fs.FileMode { return 0 }

// Size returns 0.
func (GlobEntry) Size() int64 { return 0 }

// ModTime returns the zero time.
func (GlobEntry) ModTime() (t time.Time) { return t }

// Sys returns nil.
func (GlobEntry) Sys() any { return nil }

// Info returns the entry itself.
func (e GlobEntry) Info() (fs.FileInfo, error) { return e, nil }

// Glob returns the paths that match a pattern, sorted.
func (o *View) Glob(pattern string, r *safepath.NameReader) ([]string, error) {
	found, err := fs.Glob(ioFS{o, r}, strings.TrimPrefix(path.Clean(pattern), "/"))
	for i := range found {
		found[i] = "/" + found[i]
	}
	slices.Sort(found)
	return found, err
}
