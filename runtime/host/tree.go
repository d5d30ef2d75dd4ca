package host

import (
	"context"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Tree lists everything below the directory at the path, in order of path, directories before
// their entries. Links are listed and not followed. Entries that cannot be read are left out, and
// are part of the error. In a plan it sees assumed effects. It ends with ctx, and returns a
// [TooManyNamesError] once it has read more names than l allows.
func (v *View) Tree(ctx context.Context, name string, l safepath.NameLimit) ([]safepath.TreeEntry, error) {
	return v.tree(name, &safepath.NameReader{Ctx: ctx, Limit: l})
}

func (v *View) tree(name string, r *safepath.NameReader) ([]safepath.TreeEntry, error) {
	if o := v.planned(); o != nil {
		return o.Tree(name, false, r)
	}
	p, err := v.files.At(name)
	if err != nil {
		return nil, safepath.PathError("open", name, err)
	}
	defer p.Close()
	entries, err := safepath.TreeAt(p, r)
	return entries, safepath.PathError("open", name, err)
}

// Tree is Tree for a directory that the user names as a source. The root does not apply to it,
// and a link to it is followed.
func (s Sources) Tree(ctx context.Context, dir string, l safepath.NameLimit) ([]safepath.TreeEntry, error) {
	r := &safepath.NameReader{Ctx: ctx, Limit: l}
	if name, ok := s.v.overlay.SourceOf(dir); ok {
		return s.v.overlay.SourceTree(dir, name, r)
	}
	d, err := s.v.sources.Directory(dir)
	if err == unix.ENOTDIR {
		return nil, diag.Not(dir, "a directory")
	}
	if err != nil {
		return nil, safepath.PathError("stat", dir, err)
	}
	defer d.Close()
	return safepath.ListTree(d, r)
}

// Directory opens a directory of the user, with links followed. The root does not apply to it.
// The caller closes it.
func (s Sources) Directory(name string) (*safepath.Handle, error) {
	d, err := s.v.sources.Directory(name)
	return d, safepath.PathError("open", name, err)
}

// Lstat describes a file or directory of the user, without following a link.
func (s Sources) Lstat(name string) (safepath.Info, error) {
	info, err := s.v.sources.Lstat(name)
	return info, safepath.PathError("lstat", name, err)
}

// OpenAt opens an entry below a directory of the user for reading, without following a link or
// waiting for a pipe. The caller closes it.
func (s Sources) OpenAt(p safepath.Location) (fd int, err error) {
	return s.v.sources.OpenAt(p, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
}
