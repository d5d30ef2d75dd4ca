package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Selection selects a part of a catalog. The zero Selection selects all.
type Selection struct {
	// Targets are resources by name or alias, or patterns. Tags selects the resources that have
	// one of these tags. The resources that a selected one comes after are selected too, and
	// WithDependents also selects those that come after it.
	Targets        []resource.ID
	Tags           []string
	WithDependents bool
	// SkipTags excludes the resources that have one of these tags, also if a selected one comes
	// after them.
	SkipTags []string
}

// isAll reports whether the selection excludes nothing.
func (s *Selection) isAll() bool { return len(s.Targets)+len(s.Tags)+len(s.SkipTags) == 0 }

// Select returns the selected part of c. An unknown name or tag is an error, and so is a target
// or tag of which SkipTags leaves nothing.
func (c *Catalog) Select(s Selection) (*Catalog, error) {
	if s.isAll() {
		return c, nil
	}
	tags := c.tags()
	skip, err := tags.having("--skip-tags", s.SkipTags)
	if err != nil {
		return nil, err
	}
	keep := make([]bool, len(c.Resources))
	choose := func(name string, chosen []int) error {
		left := false
		for _, i := range chosen {
			keep[i], left = true, left || !skip[i]
		}
		if !left {
			return diag.At(diag.Pos{}, diag.None("resources left of %s: --skip-tags %s skips them", name, strings.Join(s.SkipTags, ",")))
		}
		return nil
	}
	for _, id := range s.Targets {
		chosen, err := c.find(id)
		if err != nil {
			return nil, err
		}
		if err := choose("--target "+id.String(), chosen); err != nil {
			return nil, err
		}
	}
	for _, tag := range s.Tags {
		chosen, err := tags.with("--tags", tag)
		if err != nil {
			return nil, err
		}
		if err := choose("--tags "+tag, chosen); err != nil {
			return nil, err
		}
	}
	if len(s.Targets)+len(s.Tags) == 0 {
		for i := range keep {
			keep[i] = true
		}
	}
	// Every resource stands behind those that it comes after, so one pass in each direction
	// suffices.
	if s.WithDependents {
		for i, deps := range c.Deps {
			keep[i] = keep[i] || slices.ContainsFunc(deps, func(d Dep) bool { return keep[d.Index] })
		}
	}
	for i := len(c.Resources) - 1; i >= 0; i-- {
		if keep[i] {
			for _, d := range c.Deps[i] {
				keep[d.Index] = true
			}
		}
	}
	for i := range skip {
		keep[i] = false
	}
	return c.part(keep), nil
}

// Names returns the names of all resources, as TYPE#NAME.
func (c *Catalog) Names() []string {
	names := make([]string, len(c.Resources))
	for i, r := range c.Resources {
		names[i] = r.ID.String()
	}
	return names
}

// Tags returns the tags that resources have, sorted.
func (c *Catalog) Tags() []string { return slices.Sorted(maps.Keys(c.tags())) }

// find returns the index of the resource with a name or alias, or the indices of those that match
// it as a pattern. A name with asterisks is no pattern if a resource has it.
func (c *Catalog) find(id resource.ID) ([]int, error) {
	for i, r := range c.Resources {
		if r.ID == id || r.Common.Alias != "" && id == (resource.ID{Type: r.ID.Type, Name: r.Common.Alias}) {
			return []int{i}, nil
		}
	}
	if isGlob(id) {
		return c.glob(id)
	}
	e := diag.At(diag.Pos{}, fmt.Errorf("--target: %w", diag.None("resource %s", id)))
	if near := diag.Nearest(id.String(), c.Names()); near != "" {
		e.WithHint("did you mean %s?", near)
	}
	return nil, e
}

// part returns the catalog of the resources to keep. A resource that came after an excluded one
// comes after everything that the excluded one came after.
func (c *Catalog) part(keep []bool) *Catalog {
	out, at := new(Catalog), make([]int, len(c.Resources))
	through := make(map[int][]Dep) // by excluded resource: the kept ones that it comes after
	for i, r := range c.Resources {
		deps := make([]Dep, 0, len(c.Deps[i]))
		for _, d := range c.Deps[i] {
			if keep[d.Index] {
				deps = append(deps, Dep{at[d.Index], d.Refresh})
			} else {
				deps = append(deps, through[d.Index]...)
			}
		}
		deps = unique(deps)
		if keep[i] {
			at[i] = len(out.Resources)
			out.Resources, out.Deps = append(out.Resources, r), append(out.Deps, deps)
			continue
		}
		left := ExcludedResource{ID: r.ID, Pos: r.Pos, Resource: r}
		for _, d := range deps {
			if d.Refresh {
				left.RefreshedBy = append(left.RefreshedBy, d.Index)
			}
		}
		out.Excluded = append(out.Excluded, left)
		for k := range deps {
			deps[k].Refresh = false
		}
		through[i] = deps
	}
	return out
}

// unique sorts deps and merges those on the same resource.
func unique(deps []Dep) []Dep {
	slices.SortFunc(deps, func(a, b Dep) int { return a.Index - b.Index })
	list := deps[:0]
	for _, d := range deps {
		if n := len(list); n > 0 && list[n-1].Index == d.Index {
			list[n-1].Refresh = list[n-1].Refresh || d.Refresh
			continue
		}
		list = append(list, d)
	}
	return list
}

// A tagIndex holds the indices of the resources that have a tag, by the tag.
type tagIndex map[string][]int

// tags returns the resources of c by their tags. A resource of a child also has the tags of the
// resource that applies the child.
func (c *Catalog) tags() tagIndex {
	own := make(map[resource.ID][]resource.Tag)
	for _, r := range c.Resources {
		if len(r.Common.Tags) > 0 {
			own[r.ID] = r.Common.Tags
		}
	}
	all := make(tagIndex)
	for i, r := range c.Resources {
		tags := own[r.ID]
		for s := r.Scope; s != nil; s = s.Parent {
			tags = slices.Concat(tags, own[s.Apply])
		}
		for _, tag := range tags {
			if list := all[tag.String()]; len(list) == 0 || list[len(list)-1] != i {
				all[tag.String()] = append(list, i)
			}
		}
	}
	return all
}

// with returns the resources with a tag. Flag is the flag that named it, for the error.
func (t tagIndex) with(flag, tag string) ([]int, error) {
	if list := t[tag]; len(list) > 0 {
		return list, nil
	}
	e := diag.At(diag.Pos{}, fmt.Errorf("%s: %w", flag, diag.None("resource has the tag %q", tag)))
	if tag == "" {
		e = diag.Errorf(diag.Pos{}, "%s: %w", flag, diag.Expected("a tag").Got("an empty text"))
	}
	names := slices.Sorted(maps.Keys(t))
	switch near := diag.Nearest(tag, names); {
	case near != "":
		e.WithHint("did you mean %s?", near)
	case len(names) == 0:
		e.WithHint("no resource has a tag")
	default:
		e.WithHint("tags: %s", strings.Join(names, ", "))
	}
	return nil, e
}

// having returns the set of resources that have one of the tags.
func (t tagIndex) having(flag string, tags []string) (map[int]bool, error) {
	set := make(map[int]bool)
	for _, tag := range tags {
		list, err := t.with(flag, tag)
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			set[i] = true
		}
	}
	return set, nil
}
