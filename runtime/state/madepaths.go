package state

import (
	"path"
	"sync"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Removals returns the rules of what removals of a site below a root may take along: what runs of
// all sites have created and no site declares any more, and no more than is backed up. Of this
// site, catalog has what is declared.
func (s *Store) Removals(site, root string, catalog *catalog.Catalog) resource.Removals {
	paths := sync.OnceValue(func() map[string]MadeParent { return s.madePaths(site, root, catalog) })
	return resource.Removals{
		Made: func(at string, found host.Info) bool {
			p, ok := paths()[at]
			return ok && (p.Ino == 0 || p.Is(found))
		},
		MaxFile: s.backups.Object, MaxTotal: s.backups.Bytes,
	}
}

// madePaths returns the undeclared paths that runs have created: those that resources are named by,
// which have no Ino, and parent directories. What cannot be read is left out, so that it is kept.
func (s *Store) madePaths(site, root string, c *catalog.Catalog) map[string]MadeParent {
	made := make(map[string]MadeParent)
	var ids []string
	declared := declaredIn(c)
	applied, err := s.Applied()
	if err != nil {
		return made
	}
	for _, x := range applied {
		if x.Root != root {
			continue
		}
		a := &appliedRecord{s: s, site: x.Site, root: root, readOnly: true}
		parents, _ := a.madeParents()
		for _, p := range parents {
			made[string(p.Path)] = p
		}
		list, _ := a.undeclared()
		for _, d := range list {
			if d.Made {
				ids = append(ids, string(d.ID))
			}
		}
		a.load()
		for _, w := range a.last.list {
			switch {
			case x.Site != site:
				declared[w.id] = true
			case w.made && !declared[w.id]:
				ids = append(ids, w.id)
			}
		}
	}
	for _, id := range ids {
		if at := pathOf(id); at != "" {
			made[at] = MadeParent{}
		}
	}
	for id := range declared {
		delete(made, pathOf(id))
	}
	return made
}

// pathOf returns the path that a resource is named by, or "".
func pathOf(id string) string {
	x, err := resource.ParseID(id)
	if err != nil || !path.IsAbs(x.Name) {
		return ""
	}
	return path.Clean(x.Name)
}
