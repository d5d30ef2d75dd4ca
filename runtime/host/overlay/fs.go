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
	return fileInfo{path.Base(name), p.info}, err
}

// ReadDir implements fs.ReadDirFS.
func (f ioFS) ReadDir(name string) ([]fs.DirEntry, error) {
	names, err := f.o.ReadDir("/"+name, f.r)
	list := make([]fs.DirEntry, 0, len(names))
	for _, n := range names {
		if err := f.r.Look(); err != nil {
			return nil, err
		}
		p, findErr := f.o.find(path.Join("/", name, n), true)
		if findErr == nil {
			list = append(list, fs.FileInfoToDirEntry(fileInfo{n, p.info}))
		}
	}
	return list, err
}

// fileInfo is an Info as an fs.FileInfo.
type fileInfo struct {
	name string
	info safepath.Info
}

// Name implements fs.FileInfo.
func (i fileInfo) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i fileInfo) Size() int64 { return i.info.Size }

// Mode implements fs.FileInfo.
func (i fileInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.info.Mode & 0o777)
	switch i.info.Kind {
	case safepath.Directory:
		mode |= fs.ModeDir
	case safepath.Symlink:
		mode |= fs.ModeSymlink
	case safepath.Special:
		mode |= fs.ModeIrregular
	}
	return mode
}

// ModTime implements fs.FileInfo.
func (i fileInfo) ModTime() time.Time { return i.info.MTime }

// IsDir implements fs.FileInfo.
func (i fileInfo) IsDir() bool { return i.info.Kind == safepath.Directory }

// Sys implements fs.FileInfo.
func (i fileInfo) Sys() any { return nil }

// Glob returns the paths that match a pattern, sorted.
func (o *View) Glob(pattern string, r *safepath.NameReader) ([]string, error) {
	found, err := fs.Glob(ioFS{o, r}, strings.TrimPrefix(path.Clean(pattern), "/"))
	for i := range found {
		found[i] = "/" + found[i]
	}
	slices.Sort(found)
	return found, err
}
