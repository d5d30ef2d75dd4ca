package catalog

import "github.com/luaccm/ccm/runtime/resource"

// addApplied adds the edges of children. The resources of a child come before the resource
// that applies it, which is refreshed if one of them changes, and after all that this
// resource comes after.
func (b *Builder) addApplied(edges []edge, index func(*resource.Resource) int) []edge {
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
		b.dependOnChildren(e, parts, &edges)
	}
	for i := range b.list {
		for _, part := range parts[i] {
			edges = append(edges, edge{from: part, to: i, refresh: true, property: "apply", by: i})
		}
	}
	return edges
}

// dependOnChildren copies an edge of a resource to the resources that it applies.
func (b *Builder) dependOnChildren(e edge, parts map[int][]int, edges *[]edge) {
	for s := b.list[e.from].Scope; s != nil; s = s.Parent {
		if s.Apply == b.list[e.to].ID {
			return // it is one of those that come before anyway
		}
	}
	for _, part := range parts[e.to] {
		c := e
		c.to, c.refresh = part, false
		*edges = append(*edges, c)
		b.dependOnChildren(c, parts, edges)
	}
}
