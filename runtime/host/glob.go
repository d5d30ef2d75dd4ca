package host

import (
	"cmp"
	"context"
	"io/fs"
	"strings"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Glob returns the paths that match pattern (path/filepath), sorted. Paths that cannot be looked
// at do not match. It ends with ctx, and returns a [TooManyNamesError] once it has read more
// names than l allows.
func (v *View) Glob(ctx context.Context, pattern string, l safepath.NameLimit) ([]string, error) {
	r := &safepath.NameReader{Ctx: ctx, Limit: l}
	if o := v.planned(); o != nil {
		found, err := o.Glob(pattern, r)
		return found, cmp.Or(r.Err, err)
	}
	found, err := fs.Glob(globFS{v, r}, strings.TrimPrefix(pattern, "/"))
	for i, name := range found {
		found[i] = "/" + name
	}
	return found, cmp.Or(r.Err, err)
}

// globFS is the machine as a file system for fs.Glob. Its names are paths without the leading
// slash.
type globFS struct {
	v *View
	r *safepath.NameReader
}

var (
	_ fs.StatFS    = globFS{}
	_ fs.ReadDirFS = globFS{}
)

// Open implements fs.FS.
func (g globFS) Open(name string) (fs.File, error) { return g.v.Open("/" + name) }

// Stat implements fs.StatFS. A dangling link exists.
func (g globFS) Stat(name string) (fs.FileInfo, error) {
	if err := g.r.Look(); err != nil {
		return nil, err
	}
	info, err := lstat(g.v, "/"+name)
	if err == nil && info.Kind == safepath.Missing {
		err = fs.ErrNotExist
	}
	return overlay.GlobEntry(name), err
}

// ReadDir implements fs.ReadDirFS.
func (g globFS) ReadDir(name string) ([]fs.DirEntry, error) {
	names, err := g.v.readDir("/"+name, g.r)
	list := make([]fs.DirEntry, len(names))
	for i, name := range names {
		list[i] = overlay.GlobEntry(name)
	}
	return list, err
}
