package recovery

import (
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state"
)

// addParents adds the removals of parent directories that runs of the site made: those that will
// be empty and that no site names, the deepest first.
func (x *Prune) addParents(removals []*resource.Resource) ([]*resource.Resource, error) {
	var err error
	if x.parents, err = state.MadeParents(x.state.Store, x.state.Site, x.state.Root); err != nil || len(x.parents) == 0 {
		return removals, err
	}
	named, err := state.NamedParents(x.state.Store, x.state.Site, x.state.Root, x.site.Catalog, x.parents)
	if err != nil {
		return nil, err
	}
	gone := make(map[string]resource.ID) // paths to remove, with the resources that remove them
	for _, r := range removals {
		if r.Skip == "" {
			gone[r.ID.Name] = r.ID
		}
	}
	// In order of names, a directory comes before what is below it.
	deepest := slices.SortedFunc(slices.Values(x.parents), func(a, b state.MadeParent) int { return strings.Compare(string(b.Path), string(a.Path)) })
	for _, p := range deepest {
		if _, ok := gone[string(p.Path)]; ok || named[p.Path] || !x.stands(p) {
			continue
		}
		inside, err := x.site.Host.ReadDir(string(p.Path))
		if err != nil {
			return nil, err
		}
		var after []schema.Value
		for _, name := range inside {
			if by, ok := gone[path.Join(string(p.Path), name)]; ok {
				after = append(after, schema.StringValue(by.String()))
			}
		}
		if len(after) < len(inside) {
			continue // something in it stays
		}
		r, err := x.removalAfter(string(p.Path), after)
		if err != nil {
			return nil, err
		}
		// A later declaration of the directory found it there, but an earlier run had made it: its
		// skip is replaced.
		removals = slices.DeleteFunc(removals, func(other *resource.Resource) bool { return other.ID == r.ID })
		removals, gone[string(p.Path)] = append(removals, r), r.ID
	}
	return removals, nil
}

// stands reports whether a directory that a run made still exists, and was not replaced by
// another.
func (x *Prune) stands(p state.MadeParent) bool {
	info, err := x.site.Host.Lstat(string(p.Path))
	return err == nil && p.Is(info)
}

// removalAfter returns the declaration that removes a directory, or a file, after its entries.
func (x *Prune) removalAfter(dir string, after []schema.Value) (*resource.Resource, error) {
	t := x.site.Registry.Type("file")
	tab := &schema.Table{Positions: schema.FixedPosition(diag.Pos{})}
	tab.Set(t.Schema().Name().Name, schema.StringValue(dir))
	tab.Set("ensure", schema.StringValue("absent"))
	if len(after) > 0 {
		tab.Set("require", schema.ListValue(after...))
	}
	return t.Decode(tab, resource.Origin{})
}

// forgetParents removes the directories that are gone from the record of the site.
func (x *Prune) forgetParents() error {
	gone := make(map[state.Name]bool)
	for _, p := range x.parents {
		if !x.stands(p) {
			gone[p.Path] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return state.ForgetParents(x.state.Store, x.state.Site, x.state.Root, gone)
}

// addExtracted adds the removals of what runs of the site extracted for archives that are no longer
// declared.
func (x *Prune) addExtracted(removals []*resource.Resource) ([]*resource.Resource, error) {
	trees, err := state.MadeTrees(x.state.Store, x.state.Site, x.state.Root, "archive", x.site.Catalog, &x.site.Host.View)
	if err != nil {
		return nil, err
	}
	for _, tree := range trees {
		id := resource.ID{Type: "file", Name: tree.Path}
		if slices.ContainsFunc(removals, func(r *resource.Resource) bool { return r.ID.Name == id.Name }) {
			continue
		}
		if tree.Changed {
			removals = append(removals, &resource.Resource{ID: id, Common: resource.EmptyCommon, Skip: "it changed after a run extracted it"})
			continue
		}
		r, err := x.removalAfter(tree.Path, nil)
		if err != nil {
			return nil, err
		}
		removals = append(removals, r)
	}
	return removals, nil
}
