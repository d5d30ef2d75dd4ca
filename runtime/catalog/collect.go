package catalog

import (
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/resource"
)

// A Filter selects resources by type, name and tag. The empty one selects all.
type Filter struct {
	// Type and Name are patterns as --target has them; "" is any.
	Type, Name string
	// Tags selects what has one of them; nil selects all.
	Tags []string
}

// Matches reports whether a filter selects a resource. What is not managed on this machine
// is not selected.
func (f Filter) Matches(r *resource.Resource) (bool, error) {
	if r.Skip != "" || len(f.Tags) > 0 && !slices.ContainsFunc(r.Common.Tags, func(t resource.Tag) bool { return slices.Contains(f.Tags, t.String()) }) {
		return false, nil
	}
	pattern := resource.ID{Type: f.Type, Name: f.Name}
	if pattern.Type == "" {
		pattern.Type = "*"
	}
	if pattern.Name == "" {
		pattern.Name = "*"
	}
	ok, err := matchID(pattern, r.ID)
	if err != nil {
		return false, fmt.Errorf("%s: %w", pattern, err)
	}
	return ok || r.ID.Type == f.Type && r.ID.Name == f.Name, nil
}

// Replace puts a resource with other properties in the place of one that was added. The ID
// and the alias are the same. A declaration like the first one is no mistake afterwards.
func (b *Builder) Replace(old, now *resource.Resource) {
	i := slices.Index(b.list, old)
	b.list[i] = now
	for _, name := range []string{old.ID.Name, old.Common.Alias} {
		if of := b.names[old.ID.Type]; of[name] == old {
			of[name] = now
		}
	}
	if b.declared == nil {
		b.declared = make(map[*resource.Resource]*resource.Resource)
	}
	first := b.declared[old]
	if first == nil {
		first = old
	}
	delete(b.declared, old)
	b.declared[now] = first
}
