package prefetch

import (
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// ChangedPaths are the paths changed by resources that change nothing else
// (resource.PathConfined). A prefetched status of any other path stays valid. Paths are resolved,
// so that one file has one name.
//
// Every resource after the first change looks up its path. So paths are kept by directory: there
// are few directories.
type ChangedPaths struct {
	// View is the machine that has the paths.
	View *host.View
	// in has the changed names of each directory, by its resolved path.
	in map[string]*names
	// dirs is a cache of directories, by their paths as resources write them.
	dirs map[string]*directory
	// last is the directory used last, and lastName its key in dirs.
	last     *directory
	lastName string
	// count is how many paths were changed.
	count int
}

// names are the changed entries of one directory.
type names struct {
	paths   map[string]bool
	parents map[string]bool // entries that are directories with changes below them
}

// A directory is the parent of paths.
type directory struct {
	path  string // resolved, "" if it cannot be
	count int    // ChangedPaths.count when gone was computed
	gone  bool   // the directory, or one above it, was itself changed
}

// empty reports whether nothing was changed.
func (c *ChangedPaths) empty() bool { return c.count == 0 }

// Clear forgets all paths and the cache of directories.
func (c *ChangedPaths) Clear() {
	clear(c.in)
	clear(c.dirs)
	c.last, c.count = nil, 0
}

// add adds the path of a change. It is false if the change may affect other paths too: the path
// cannot be resolved, or the file has other names.
func (c *ChangedPaths) add(path string) bool {
	if info, err := c.View.Lstat(path); err != nil || info.Kind == safepath.Regular && info.Links > 1 {
		return false
	}
	return c.AddReplaced(path)
}

// AddReplaced adds the path of a file that was made or replaced as a whole, and so has no other
// names.
func (c *ChangedPaths) AddReplaced(path string) bool {
	dir, base := c.split(path)
	if dir.path == "" {
		return false
	}
	c.namesIn(dir.path).paths[base] = true
	c.count++
	for at := dir.path; at != "/"; {
		parent, name := filepath.Dir(at), filepath.Base(at)
		in := c.namesIn(parent)
		if in.parents[name] {
			break
		}
		in.parents[name] = true
		at = parent
	}
	return true
}

// Covers reports whether a change may have changed what is at a path.
func (c *ChangedPaths) Covers(path string) bool {
	if c.empty() {
		return false
	}
	dir, base := c.split(path)
	if dir.path == "" {
		return true
	}
	if dir.count != c.count {
		dir.count, dir.gone = c.count, c.changedOrBelow(dir.path)
	}
	in := c.in[dir.path]
	return dir.gone || in != nil && (in.paths[base] || in.parents[base])
}

// changedOrBelow reports whether a directory, or one above it, was changed.
func (c *ChangedPaths) changedOrBelow(path string) bool {
	for path != "/" {
		parent := filepath.Dir(path)
		if in := c.in[parent]; in != nil && in.paths[filepath.Base(path)] {
			return true
		}
		path = parent
	}
	return false
}

func (c *ChangedPaths) namesIn(path string) *names {
	in := c.in[path]
	if in == nil {
		in = &names{make(map[string]bool), make(map[string]bool)}
		if c.in == nil {
			c.in = make(map[string]*names)
		}
		c.in[path] = in
	}
	return in
}

// split returns the directory that a path is in, and its last element.
func (c *ChangedPaths) split(path string) (*directory, string) {
	slash := strings.LastIndexByte(path, '/')
	name, base := path[:slash+1], path[slash+1:]
	if c.last != nil && c.lastName == name {
		return c.last, base
	}
	dir := c.dirs[name]
	if dir == nil {
		dir = &directory{count: -1}
		if real, err := c.View.Canonical(filepath.Clean(name)); err == nil {
			dir.path = real
		}
		if c.dirs == nil {
			c.dirs = make(map[string]*directory)
		}
		c.dirs[name] = dir
	}
	c.last, c.lastName = dir, name
	return dir, base
}
