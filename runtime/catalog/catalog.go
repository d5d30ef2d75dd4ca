// Package catalog holds the resources that scripts and manifests declare, and
// puts them in order.
//
// A [Builder] collects resources; [Builder.Build] resolves their references to each other and
// returns a [Catalog].
package catalog

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Builder collects resources in the order of their declaration.
type Builder struct {
	// OnAdd is called with each added resource. May be nil.
	OnAdd func(*resource.Resource)

	list  []*resource.Resource
	names names
	// originals has the original declarations of replaced resources ([Builder.Replace]).
	originals map[*resource.Resource]*resource.Resource
	// invalid are resources with mistakes, for CheckReferences.
	invalid []*resource.Resource
}

// names finds resources by type and by name or alias. There are few types, so this is faster than
// a map by ID.
type names map[string]map[string]*resource.Resource

func (n names) get(id resource.ID) (*resource.Resource, bool) {
	r, ok := n[id.Type][id.Name]
	return r, ok
}

func (n names) set(id resource.ID, r *resource.Resource) {
	of := n[id.Type]
	if of == nil {
		of = make(map[string]*resource.Resource)
		n[id.Type] = of
	}
	of[id.Name] = r
}

// Add adds r and returns the resource of that ID in the catalog. A second declaration is a
// mistake, unless it equals the first in every property: then the first is returned. A skipped
// resource gives way to a managed one, so that resources with opposite conditions may share an
// ID.
func (b *Builder) Add(r *resource.Resource) (*resource.Resource, error) {
	if r.Common == nil {
		r.Common = resource.EmptyCommon
	}
	if b.names == nil {
		b.names = make(names)
	}
	if first, ok := b.names.get(r.ID); ok {
		switch {
		case r.Skip != "":
			return first, nil
		case first.Skip != "" && first.ID != r.ID: // only its alias gives way
		case first.Skip != "":
			b.drop(first)
		case first.ID == r.ID && (same(first, r) || b.originals[first] != nil && same(b.originals[first], r)):
			return first, nil
		default:
			return nil, duplicateError(r, r.ID, first)
		}
	}
	alias := resource.ID{Type: r.ID.Type, Name: r.Common.Alias}
	if alias.Name != "" {
		first, ok := b.names.get(alias)
		if ok && first.Skip == "" && r.Skip == "" {
			return nil, duplicateError(r, alias, first)
		}
		if !ok || r.Skip == "" {
			b.names.set(alias, r)
		}
	}
	b.names.set(r.ID, r)
	b.list = append(b.list, r)
	if b.OnAdd != nil {
		b.OnAdd(r)
	}
	return r, nil
}

// same reports whether two declarations of one ID are equal. With lazy values that cannot be
// told, so they are not.
func same(a, b *resource.Resource) bool {
	return len(a.LazyProperties)+len(b.LazyProperties) == 0 && reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Common, b.Common) && a.Restraint() == b.Restraint()
}

// AddInvalid notes a resource whose mistakes were reported. The catalog is never built.
func (b *Builder) AddInvalid(r *resource.Resource) { b.invalid = append(b.invalid, r) }

// CheckReferences returns the mistakes in references, for a catalog that is not built because of
// other mistakes. Invalid resources count as declared: their references are checked, and
// references to them are good.
func (b *Builder) CheckReferences() error {
	known := make(map[resource.ID]bool)
	for _, r := range b.invalid {
		known[r.ID], known[resource.ID{Type: r.ID.Type, Name: r.Common.Alias}] = true, true
	}
	var errs diag.List
	for _, r := range slices.Concat(b.list, b.invalid) {
		c := r.Common
		for _, rel := range []struct {
			property string
			refs     []resource.Reference
		}{{"require", c.Require}, {"subscribe", c.Subscribe}, {"before", c.Before}, {"notify", c.Notify}} {
			for n, ref := range rel.refs {
				if ref == (resource.Reference{}) {
					continue // it could not be read, which was reported
				}
				if _, ok := b.names.get(resource.ID(ref)); !ok && !known[resource.ID(ref)] {
					errs.Add(b.unknown(r, rel.property, n, ref))
				}
			}
		}
	}
	return errs.Err()
}

// Remove removes r, as if it had not been added.
func (b *Builder) Remove(r *resource.Resource) { b.drop(r) }

// drop removes a resource and its names.
func (b *Builder) drop(r *resource.Resource) {
	b.list = slices.DeleteFunc(b.list, func(x *resource.Resource) bool { return x == r })
	for _, name := range []string{r.ID.Name, r.Common.Alias} {
		if of := b.names[r.ID.Type]; of[name] == r {
			delete(of, name)
		}
	}
}

func duplicateError(r *resource.Resource, id resource.ID, first *resource.Resource) error {
	e := &diag.Error{Pos: r.Pos, Subject: r.ID.String(), Notes: r.Calls}
	if e.Err = diag.Already("", "declared at %s", first.Pos); id != r.ID || first.ID != id {
		e.Err = diag.Already(id.String(), "the name or alias of %s at %s", first.ID, first.Pos)
	}
	return e
}

// Get returns the resource with that name or alias, or nil.
func (b *Builder) Get(id resource.ID) *resource.Resource { return b.names[id.Type][id.Name] }

// Resources returns the resources added so far, in the order of declaration.
func (b *Builder) Resources() []*resource.Resource { return b.list }

// A Dep is a resource that another one, the dependent, comes after.
type Dep struct {
	Index int // of the resource that comes first
	// Refresh is set if a change of it refreshes the dependent.
	Refresh bool
}

// A Catalog is a set of resources in the order in which they are converged.
type Catalog struct {
	Resources []*resource.Resource
	// Deps lists for each resource the resources that it comes after, in ascending order.
	Deps [][]Dep
	// Excluded lists the resources that were not selected, if the catalog is a part of another.
	Excluded []ExcludedResource
}

// An ExcludedResource is a resource that was not selected.
type ExcludedResource struct {
	ID  resource.ID
	Pos diag.Pos
	// Resource is the declaration.
	Resource *resource.Resource
	// RefreshedBy lists the indices of selected resources that refresh it.
	RefreshedBy []int
}

// Build resolves the references and orders the resources: as declared, except where one has to
// come after another. The error has all mistakes.
func (b *Builder) Build() (*Catalog, error) {
	edges, err := b.edges()
	if err := errors.Join(err, b.contradictions().Err()); err != nil {
		return nil, err
	}
	return order(b.list, edges)
}

// An edge says that the resource declared as number from comes before the one declared as number
// to.
type edge struct {
	from, to int
	refresh  bool
	property string // that declares the edge
	index    int    // of the reference in that property
	by       int    // the resource with that property
}

func (b *Builder) edges() ([]edge, error) {
	// The map is made only if there is a reference: most catalogs have few.
	numbers := sync.OnceValue(func() map[*resource.Resource]int {
		numbers := make(map[*resource.Resource]int, len(b.list))
		for i, r := range b.list {
			numbers[r] = i
		}
		return numbers
	})
	index := func(r *resource.Resource) int { return numbers()[r] }
	var edges []edge
	var errs diag.List
	for i, r := range b.list {
		c := r.Common
		if len(c.Require)+len(c.Subscribe)+len(c.Before)+len(c.Notify) == 0 {
			continue
		}
		for _, rel := range []struct {
			property         string
			refs             []resource.Reference
			forward, refresh bool
		}{
			{"require", c.Require, false, false},
			{"subscribe", c.Subscribe, false, true},
			{"before", c.Before, true, false},
			{"notify", c.Notify, true, true},
		} {
			for n, ref := range rel.refs {
				other, ok := b.names.get(resource.ID(ref))
				if !ok {
					errs.Add(b.unknown(r, rel.property, n, ref))
					continue
				}
				// A resource without refresh is only ordered, as by require and before.
				first, last := other, r
				if rel.forward {
					first, last = r, other
				}
				refresh := rel.refresh && last.Type.Refreshable()
				e := edge{from: index(first), to: index(last), refresh: refresh, property: rel.property, index: n, by: i}
				edges = append(edges, e)
			}
		}
	}
	return b.addApplied(edges, index), errs.Err()
}

// unknown returns the mistake that a referenced resource is not declared.
func (b *Builder) unknown(r *resource.Resource, property string, n int, ref resource.Reference) error {
	e := r.Errorf(schema.Path{property, n}, "%s: %w", property, diag.None("resource %s", ref))
	var same, others []string
	for _, x := range b.list {
		names := []string{x.ID.Name, x.Common.Alias}
		for _, name := range names {
			if name == "" {
				continue
			}
			if x.ID.Type == ref.Type {
				same = append(same, name)
			} else {
				others = append(others, x.ID.Type+"#"+name)
			}
		}
	}
	if near := diag.Nearest(ref.Name, same); near != "" {
		return e.WithHint("did you mean %s#%s?", ref.Type, near)
	}
	// The same name under another type is a likely slip too.
	for _, id := range others {
		if strings.HasSuffix(id, "#"+ref.Name) {
			return e.WithHint("did you mean %s?", id)
		}
	}
	if near := diag.Nearest(ref.String(), others); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e
}
