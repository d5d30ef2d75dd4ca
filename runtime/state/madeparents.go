package state

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// parentsSuffix ends the name of the file with the directories that runs of a site made as
// parents of a resource (parents = true). Runs add directories, a prune removes them.
const parentsSuffix = ".parents.gz"

// maxParents is the number of directories that are kept: the latest.
const maxParents = 10000

// A MadeParent is a directory that a run made as the parent of a resource.
type MadeParent struct {
	Path Name `json:"path"`
	// Ino is its inode. A directory with another inode was made by somebody else.
	Ino uint64 `json:"ino"`
}

// Is reports whether the directory found at the path is the one that the run made.
func (p MadeParent) Is(found safepath.Info) bool {
	return found.Kind == safepath.Directory && found.Ino == p.Ino
}

// noteParents notes the directories above the event's resource that were made for it.
func (a *appliedRecord) noteParents(changes []*fileChange, e *event.Event) {
	if e.Outcome != event.Changed {
		return
	}
	for _, c := range changes {
		made := c.by == e.Resource.ID && c.Before.Kind == safepath.Missing && c.After != nil && c.After.Kind == safepath.Directory
		if made && strings.HasPrefix(e.Resource.ID.Name, string(c.Path)+"/") {
			a.parents = append(a.parents, MadeParent{c.Path, c.After.Ino})
		}
	}
}

// endParents adds the noted directories to the file.
func (a *appliedRecord) endParents() error {
	if len(a.parents) == 0 || a.site == "" { // resources of the command line are not pruned
		return nil
	}
	before, err := a.madeParents()
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(before, func(p MadeParent) bool {
		return slices.ContainsFunc(a.parents, func(x MadeParent) bool { return x.Path == p.Path })
	})
	list = append(list, a.parents...)
	return a.writeParents(list[max(0, len(list)-maxParents):])
}

// madeParents returns the directories in the file.
func (a *appliedRecord) madeParents() (list []MadeParent, err error) {
	err = eachLine(a.s, a.name()+parentsSuffix, func(p MadeParent) { list = append(list, p) })
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil && !a.readOnly {
		a.s.dir.SetAside(a.name()+parentsSuffix, "damaged: ccm prune does not know all created parent directories", a.s.clock.Now())
		return nil, nil
	}
	return list, err
}

// writeParents replaces the file.
func (a *appliedRecord) writeParents(list []MadeParent) error {
	if len(list) == 0 {
		return a.s.dir.Remove(a.name() + parentsSuffix)
	}
	if err := a.s.dir.MakeDir(appliedDir); err != nil {
		return err
	}
	return a.s.dir.Replace(a.name()+parentsSuffix, true, func(w io.Writer) error {
		return statedir.Compress(w, func(z io.Writer) error {
			lines := json.NewEncoder(z)
			for _, p := range list {
				if err := lines.Encode(p); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// MadeParents returns the parent directories that runs of a site made and that no prune removed.
func MadeParents(s *Store, site, root string) ([]MadeParent, error) {
	return (&appliedRecord{s: s, site: site, root: root, readOnly: true}).madeParents()
}

// ForgetParents removes directories from the record of a site. The lock of the state directory
// must be held.
func ForgetParents(s *Store, site, root string, gone map[Name]bool) error {
	a := &appliedRecord{s: s, site: site, root: root}
	list, err := a.madeParents()
	if err != nil || !slices.ContainsFunc(list, func(p MadeParent) bool { return gone[p.Path] }) {
		return err
	}
	return a.writeParents(slices.DeleteFunc(list, func(p MadeParent) bool { return gone[p.Path] }))
}

// NamedParents returns those of dirs that are named in a declaration: of the site, or of the last
// applied catalog of another site on the same root. A name counts as a path, in a command, or in
// the content of a file.
func NamedParents(s *Store, site, root string, c *catalog.Catalog, dirs []MadeParent) (map[Name]bool, error) {
	named := make(map[Name]bool)
	note := func(texts ...string) {
		for _, p := range dirs {
			if !named[p.Path] && slices.ContainsFunc(texts, func(text string) bool { return namesPath(text, string(p.Path)) }) {
				named[p.Path] = true
			}
		}
	}
	for _, r := range c.Resources {
		note(r.ID.Name)
		note(schema.MapValue(r.Properties()).Texts()...)
	}
	for _, x := range c.Excluded {
		note(x.ID.Name)
	}
	applied, err := s.Applied()
	if err != nil {
		return nil, err
	}
	for _, other := range applied {
		if other.Root != root || other.Site == site {
			continue
		}
		err := s.readCatalog(other.name, func(d catalogEntry) {
			note(string(d.ID))
			var properties schema.Table
			if s.unseal(&d) == nil && properties.UnmarshalJSON(d.Properties) == nil {
				note(schema.MapValue(&properties).Texts()...)
			}
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return named, nil
}

// namesPath reports whether a text has a path, or a path below it.
func namesPath(text, dir string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], dir)
		if i < 0 {
			return false
		}
		begin := at + i
		end := begin + len(dir)
		if (begin == 0 || !inName(text[begin-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
		at = begin + 1
	}
}

// inName reports whether a byte before or after a path would make it part of a longer one.
func inName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("._-", b) >= 0 || b >= 0x80
}
