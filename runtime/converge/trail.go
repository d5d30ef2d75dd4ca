package converge

import (
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// A trail is the paths that were changed by resources which change nothing else
// (resource.Bounded). What was seen elsewhere before is still so. Paths are
// without links, so that one file has one name.
//
// It is asked about every resource after the first change, so it keeps what it
// knows by directories, of which there are few.
type trail struct {
	view *host.View
	// in is what was changed in a directory, by its path without links.
	in map[string]*names
	// dirs is the directories that were asked about, as they were named.
	dirs map[string]*directory
	// last is the one of dirs that was asked about last, lastName how it was named.
	last     *directory
	lastName string
	// count is how many paths were changed.
	count int
}

// names are entries of one directory.
type names struct {
	changed map[string]bool
	above   map[string]bool // what was changed is below them
}

// A directory is one that a path was in.
type directory struct {
	path  string // without links, "" if it leads nowhere
	count int    // of the trail, when gone was found out
	gone  bool   // it, or one above it, was changed itself
}

// empty reports whether nothing was changed.
func (t *trail) empty() bool { return t.count == 0 }

// clear forgets all paths, and which of them are links.
func (t *trail) clear() {
	clear(t.in)
	clear(t.dirs)
	t.last, t.count = nil, 0
}

// add notes that what stands at a path was changed. It reports whether that is
// all: not if the path leads nowhere, or if what stands there has other names too.
func (t *trail) add(path string) bool {
	if info, err := t.view.Lstat(path); err != nil || info.Kind == host.Regular && info.Links > 1 {
		return false
	}
	return t.note(path)
}

// note is add for what has no other names.
func (t *trail) note(path string) bool {
	dir, base := t.split(path)
	if dir.path == "" {
		return false
	}
	t.namesIn(dir.path).changed[base] = true
	t.count++
	for at := dir.path; at != "/"; {
		parent, name := filepath.Dir(at), filepath.Base(at)
		in := t.namesIn(parent)
		if in.above[name] {
			break
		}
		in.above[name] = true
		at = parent
	}
	return true
}

// covers reports whether what stands at a path may have become another by what was
// changed.
func (t *trail) covers(path string) bool {
	if t.empty() {
		return false
	}
	dir, base := t.split(path)
	if dir.path == "" {
		return true
	}
	if dir.count != t.count {
		dir.count, dir.gone = t.count, t.changedOrBelow(dir.path)
	}
	in := t.in[dir.path]
	return dir.gone || in != nil && (in.changed[base] || in.above[base])
}

// changedOrBelow reports whether a directory, or one above it, was changed.
func (t *trail) changedOrBelow(path string) bool {
	for path != "/" {
		parent := filepath.Dir(path)
		if in := t.in[parent]; in != nil && in.changed[filepath.Base(path)] {
			return true
		}
		path = parent
	}
	return false
}

func (t *trail) namesIn(path string) *names {
	in := t.in[path]
	if in == nil {
		in = &names{make(map[string]bool), make(map[string]bool)}
		if t.in == nil {
			t.in = make(map[string]*names)
		}
		t.in[path] = in
	}
	return in
}

// split returns the directory that a path is in, and its last element.
func (t *trail) split(path string) (*directory, string) {
	slash := strings.LastIndexByte(path, '/')
	name, base := path[:slash+1], path[slash+1:]
	if t.last != nil && t.lastName == name {
		return t.last, base
	}
	dir := t.dirs[name]
	if dir == nil {
		dir = &directory{count: -1}
		if real, err := t.view.Canonical(filepath.Clean(name)); err == nil {
			dir.path = real
		}
		if t.dirs == nil {
			t.dirs = make(map[string]*directory)
		}
		t.dirs[name] = dir
	}
	t.last, t.lastName = dir, name
	return dir, base
}
