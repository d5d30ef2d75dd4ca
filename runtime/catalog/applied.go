package catalog

import "github.com/luaccm/ccm/runtime/resource"

// applied adds the edges of what is applied. What a child declares comes before
// the resource that applies it, which is refreshed if any of it changes, and
// after all that this resource comes after.
func (b *Builder) applied(edges []edge, index func(*resource.Resource) int) []edge {
	parts := make(map[int][]int) // by the resource that applies them, direct ones
	for i, r := range b.list {
		if r.Scope == nil || r.Scope.Apply == (resource.ID{}) {
			continue
		}
		if by, ok := b.names.get(r.Scope.Apply); ok && by != r {
			parts[index(by)] = append(parts[index(by)], i)
		}
	}
	if len(parts) == 0 {
		return edges
	}
	for _, e := range edges {
		b.spread(e, parts, &edges)
	}
	for i := range b.list {
		for _, part := range parts[i] {
			edges = append(edges, edge{from: part, to: i, refresh: true, property: "apply", by: i})
		}
	}
	return edges
}

// spread makes what e says of a resource that applies others true of these too.
func (b *Builder) spread(e edge, parts map[int][]int, edges *[]edge) {
	for s := b.list[e.from].Scope; s != nil; s = s.Parent {
		if s.Apply == b.list[e.to].ID {
			return // it is one of those that come before anyway
		}
	}
	for _, part := range parts[e.to] {
		c := e
		c.to, c.refresh = part, false
		*edges = append(*edges, c)
		b.spread(c, parts, edges)
	}
}
