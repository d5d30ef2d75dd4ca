package converge

import (
	"path/filepath"

	"github.com/luaccm/ccm/runtime/host"
)

// A trail is the paths that were changed by resources which change nothing else
// (resource.Bounded). What was seen elsewhere before is still so. Paths are
// without links, so that one file has one name.
type trail struct {
	view    *host.View
	changed map[string]bool
	above   map[string]bool   // the directories on the way to what was changed
	dirs    map[string]string // directories without links, by their names
}

// empty reports whether nothing was changed.
func (t *trail) empty() bool { return len(t.changed) == 0 }

// clear forgets all paths, and which of them are links.
func (t *trail) clear() { clear(t.changed); clear(t.above); clear(t.dirs) }

// add notes that what stands at a path was changed. It reports whether that is
// all: not if the path leads nowhere, or if what stands there has other names too.
func (t *trail) add(path string) bool {
	at, ok := t.place(path)
	if !ok {
		return false
	}
	if info, err := t.view.Lstat(path); err != nil || info.Kind == host.Regular && info.Links > 1 {
		return false
	}
	if t.changed == nil {
		t.changed, t.above = make(map[string]bool), make(map[string]bool)
	}
	t.changed[at] = true
	for dir := filepath.Dir(at); !t.above[dir]; dir = filepath.Dir(dir) {
		t.above[dir] = true
	}
	return true
}

// meets reports whether what stands at a path may have become another by what was
// changed.
func (t *trail) meets(path string) bool {
	if t.empty() {
		return false
	}
	at, ok := t.place(path)
	if !ok || t.changed[at] || t.above[at] {
		return true
	}
	for dir := filepath.Dir(at); dir != at; at, dir = dir, filepath.Dir(dir) {
		if t.changed[dir] {
			return true
		}
	}
	return false
}

// place returns the path without links, its last element as it is.
func (t *trail) place(path string) (string, bool) {
	dir, base := filepath.Split(path)
	real, ok := t.dirs[dir]
	if !ok {
		var err error
		if real, err = t.view.Canonical(filepath.Clean(dir)); err != nil {
			real = ""
		}
		if t.dirs == nil {
			t.dirs = make(map[string]string)
		}
		t.dirs[dir] = real
	}
	if real == "" {
		return "", false
	}
	return filepath.Join(real, base), true
}
