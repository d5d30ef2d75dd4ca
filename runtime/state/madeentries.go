package state

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// madeSuffix ends the name of the file with the entries that runs of a site made inside of trees:
// copies of a directory, what an archive was extracted to. It has a line for each, the earliest
// first. Runs add lines. Those of removed entries stay, so that an undo restores what runs have made.
const madeSuffix = ".made.gz"

// maxMadeEntries is the number of entries that are remembered: the latest. Without its line, an
// entry is kept.
const maxMadeEntries = 200_000

// A madeEntry is an entry that a run made for a resource, at another path than the one that the
// resource is named by.
type madeEntry struct {
	Path Name `json:"path"`
	// By is the ID of the resource.
	By   Name              `json:"by"`
	Kind safepath.FileKind `json:"kind"`
	// Size and MTime are those of a file or link, 0 of directories.
	Size  int64 `json:"size,omitempty"`
	MTime int64 `json:"mtime,omitempty"` // nanoseconds since 1970
}

func newMadeEntry(at Name, by Name, v Version) madeEntry {
	e := madeEntry{Path: at, By: by, Kind: v.Kind}
	if v.Kind != safepath.Directory {
		e.Size, e.MTime = v.Size, nanoseconds(v.MTime)
	}
	return e
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// is reports whether the entry found at the path is as it was made.
func (e madeEntry) is(found safepath.Info) bool {
	return e == newMadeEntry(e.Path, e.By, versionOf(found))
}

// after returns the entry after a change of its path, and whether it is still one that runs have
// made.
func (e madeEntry) after(c *Change) (madeEntry, bool) {
	was := c.Before.Kind == safepath.Missing || e == newMadeEntry(e.Path, e.By, c.Before)
	switch {
	case c.After.Kind == safepath.Missing:
		return e, was
	case was || c.Resource == e.By:
		return newMadeEntry(e.Path, e.By, *c.After), true
	}
	return e, true // of somebody else, and not like the line
}

// isMadeInside reports whether a run made a path inside of the tree of a resource: below the path
// that the resource is named by, or somewhere else, but not as a directory above it.
func (c *Change) isMadeInside() bool {
	if c.Before.Kind != safepath.Missing || c.After == nil || c.After.Kind == safepath.Missing || c.Resource == "" {
		return false
	}
	named, at := pathOf(string(c.Resource)), string(c.Path)
	return at != named && !strings.HasPrefix(named, at+"/")
}

// endMade brings the file up to date with the changes of the run. Adds is whether the run makes
// entries for its resources: an undo only restores them.
func (r *RecordWriter) endMade(adds bool) error {
	name := r.s.appliedName(r.info.Site, r.info.Root) + madeSuffix
	total := 0
	for _, c := range r.changes {
		if adds && c != nil && c.isMadeInside() {
			total++
		}
	}
	relevant := total > 0
	if len(r.changes) == 0 || !relevant && !r.s.dir.Has(name) {
		return nil
	}
	if err := r.s.dir.MakeDir(appliedDir); err != nil {
		return err
	}
	var unread error
	err := eachMadeEntry(r.s, r.info.Site, r.info.Root, func(e madeEntry) {
		total++
		c, failed := r.changeOf(string(e.Path))
		unread = cmp.Or(unread, failed)
		relevant = relevant || c != nil
	})
	if unread != nil {
		return unread
	}
	if err == nil && !relevant {
		return nil
	}
	if err != nil {
		r.s.dir.SetAside(name, "damaged: removals keep what runs created inside of directories", r.s.clock.Now())
	}
	skip := total - maxMadeEntries
	return r.s.dir.Replace(name, r.info.Site != "", func(w io.Writer) error {
		return statedir.Compress(w, func(z io.Writer) error {
			var failed error
			lines := json.NewEncoder(z)
			add := func(e madeEntry) {
				if skip--; skip < 0 && failed == nil {
					failed = lines.Encode(e)
				}
			}
			// Of a damaged file, the readable lines are used.
			_ = eachMadeEntry(r.s, r.info.Site, r.info.Root, func(e madeEntry) {
				c, changed := r.changes[string(e.Path)]
				if !changed || c.After == nil {
					add(e)
					return
				}
				if adds && c.isMadeInside() {
					return // it is made again
				}
				if e, ok := e.after(&c.Change); ok {
					add(e)
				}
			})
			for _, c := range r.changes {
				if adds && c != nil && c.isMadeInside() {
					add(newMadeEntry(c.Path, c.Resource, *c.After))
				}
			}
			return failed
		})
	})
}

// eachMadeEntry calls each with the lines of a site's file. A missing file has none.
func eachMadeEntry(s *Store, site, root string, each func(madeEntry)) error {
	err := eachLine(s, s.appliedName(site, root)+madeSuffix, each)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// A MadeTree is an entry that a run made outside of the path that its resource is named by, and that
// is not below another one.
type MadeTree struct {
	Path string
	// Changed is set if it is not as the run has made it.
	Changed bool
}

// MadeTrees returns what runs of a site have made for resources of a type that no site declares any
// more on the root, in order of path. What no longer exists is left out, and so is what a
// declaration names: see [NamedParents].
func MadeTrees(s *Store, site, root, typ string, c *catalog.Catalog, v *host.View) (list []MadeTree, err error) {
	a := &appliedRecord{s: s, site: site, root: root, readOnly: true}
	elsewhere, err := a.declaredElsewhere()
	if err != nil {
		return nil, err
	}
	declared := declaredIn(c)
	made := make(map[string]madeEntry)
	_ = eachMadeEntry(s, site, root, func(e madeEntry) { // what cannot be read stays
		_, other := elsewhere[string(e.By)]
		if strings.HasPrefix(string(e.By), typ+"#") && !declared[string(e.By)] && !other {
			made[string(e.Path)] = e
		}
	})
	var tops []MadeParent
	for at := range made {
		if !hasAbove(made, at) {
			tops = append(tops, MadeParent{Path: Name(at)})
		}
	}
	named, err := NamedParents(s, site, root, c, tops)
	if err != nil {
		return nil, err
	}
	for _, top := range tops {
		at := string(top.Path)
		found, err := v.Lstat(at)
		if err != nil || found.Kind == safepath.Missing || named[top.Path] {
			continue
		}
		list = append(list, MadeTree{at, !made[at].is(found)})
	}
	slices.SortFunc(list, func(x, y MadeTree) int { return strings.Compare(x.Path, y.Path) })
	return list, nil
}

// hasAbove reports whether one of the paths is above a path.
func hasAbove(made map[string]madeEntry, at string) bool {
	for at != "/" {
		at = path.Dir(at)
		if _, ok := made[at]; ok {
			return true
		}
	}
	return false
}
