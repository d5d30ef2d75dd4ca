package state

import (
	"path"
	"sync"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Removals returns the rules of what removals of a site below a root may take along: what the
// resource itself has made, what runs of all sites have made for resources that no site declares
// any longer, and no more than is backed up. Of this site, catalog has what is declared.
func (s *Store) Removals(site, root string, catalog *catalog.Catalog) resource.Removals {
	made := sync.OnceValue(func() *madePaths { return s.madePaths(site, root, catalog) })
	return resource.Removals{
		Made: func(remover resource.ID, at string, found safepath.Info) resource.Provenance {
			return made().provenance(remover, at, found)
		},
		MaxFile: s.backups.Object, MaxTotal: s.backups.Bytes,
	}
}

// madePaths are the paths that runs have created.
type madePaths struct {
	// named are the paths that undeclared resources are named by.
	named map[string]bool
	// parents are made above resources, entries inside of trees.
	parents map[string]MadeParent
	entries map[string]madeEntry
	// declared are the IDs of the resources that are declared to be there.
	declared map[string]bool
	// declaredPaths are the paths that they are named by.
	declaredPaths map[string]bool
}

func (m *madePaths) provenance(remover resource.ID, at string, found safepath.Info) resource.Provenance {
	if m.declaredPaths[at] {
		return resource.NotMade
	}
	if p, ok := m.parents[at]; m.named[at] || ok && p.Is(found) {
		return resource.Made
	}
	e, ok := m.entries[at]
	switch {
	case !ok, m.declared[string(e.By)] && string(e.By) != remover.String():
		return resource.NotMade
	case !e.is(found):
		return resource.ChangedSince
	}
	return resource.Made
}

// madePaths reads the records of all sites. What cannot be read is left out, so that it is kept.
func (s *Store) madePaths(site, root string, c *catalog.Catalog) *madePaths {
	m := &madePaths{
		named: make(map[string]bool), parents: make(map[string]MadeParent), entries: make(map[string]madeEntry),
		declared: declaredIn(c), declaredPaths: make(map[string]bool),
	}
	for _, r := range c.Resources {
		if want, ok := r.Spec.(resource.EnsureReporter); ok && resource.IsAbsent(want.WantedEnsure()) {
			delete(m.declared, r.ID.String())
		}
	}
	var ids []string
	applied, err := s.Applied()
	if err != nil {
		return m
	}
	for _, x := range applied {
		if x.Root != root {
			continue
		}
		a := &appliedRecord{s: s, site: x.Site, root: root, readOnly: true}
		parents, _ := a.madeParents()
		for _, p := range parents {
			m.parents[string(p.Path)] = p
		}
		_ = eachMadeEntry(s, x.Site, root, func(e madeEntry) { m.entries[string(e.Path)] = e })
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
				m.declared[w.id] = true
			case w.made && !m.declared[w.id]:
				ids = append(ids, w.id)
			}
		}
	}
	for _, id := range ids {
		if at := pathOf(id); at != "" {
			m.named[at] = true
		}
	}
	for id := range m.declared {
		m.declaredPaths[pathOf(id)] = true
	}
	return m
}

// pathOf returns the path that a resource is named by, or "".
func pathOf(id string) string {
	x, err := resource.ParseID(id)
	if err != nil || !path.IsAbs(x.Name) {
		return ""
	}
	return path.Clean(x.Name)
}
