package host

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// Tree lists everything below the directory at the path, in order of path,
// directories before what is in them. Links are listed and not followed. What
// cannot be read is left out, and is part of the error. In a plan, what is
// assumed counts.
func (v *View) Tree(name string) ([]TreeEntry, error) {
	if o := v.planned(); o != nil {
		return o.Tree(name, false)
	}
	p, err := v.files.At(name)
	if err != nil {
		return nil, safepath.PathError("open", name, err)
	}
	defer p.Close()
	entries, err := safepath.TreeAt(p)
	return entries, safepath.PathError("open", name, err)
}

// SourceTree is Tree for a directory that the user names as a source: it lies
// outside the root, and a link to it is followed.
func (v *View) SourceTree(dir string) ([]TreeEntry, error) {
	if name, ok := v.plan.SourceOf(dir); ok {
		return v.plan.SourceTree(dir, name)
	}
	d, err := v.sources.Directory(dir)
	if err == unix.ENOTDIR {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	if err != nil {
		return nil, safepath.PathError("stat", dir, err)
	}
	defer d.Close()
	return safepath.ListTree(d)
}
