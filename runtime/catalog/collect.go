package catalog

import (
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/resource"
)

// A Filter selects resources by type, name and tag. The empty Filter selects all.
type Filter struct {
	// Type and Name are patterns as in --target; "" matches any.
	Type, Name string
	// Tags selects resources with one of these tags; nil selects all.
	Tags []string
}

// Matches reports whether the filter selects a resource. It never selects a skipped resource.
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

// Replace replaces a resource by one with other properties, and the same ID and alias. A second
// declaration that equals the replaced one is still no mistake.
func (b *Builder) Replace(old, now *resource.Resource) {
	i := slices.Index(b.list, old)
	b.list[i] = now
	for _, name := range []string{old.ID.Name, old.Common.Alias} {
		if of := b.names[old.ID.Type]; of[name] == old {
			of[name] = now
		}
	}
	if b.originals == nil {
		b.originals = make(map[*resource.Resource]*resource.Resource)
	}
	first := b.originals[old]
	if first == nil {
		first = old
	}
	delete(b.originals, old)
	b.originals[now] = first
}
