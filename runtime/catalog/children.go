package catalog

import "github.com/luaccm/ccm/runtime/resource"

// addApplied adds the edges of children. The resources of a child come before the resource that
// applies the child, and refresh it if they change. They come after everything that the applying
// resource comes after.
func (b *Builder) addApplied(edges []edge, index func(*resource.Resource) int) []edge {
	parts := make(map[int][]int) // the resources of each child, by the resource that applies it
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

// dependOnChildren repeats an edge to a resource for all resources of its child.
func (b *Builder) dependOnChildren(e edge, parts map[int][]int, edges *[]edge) {
	for s := b.list[e.from].Scope; s != nil; s = s.Parent {
		if s.Apply == b.list[e.to].ID {
			return // from is in the child itself, and comes first anyway
		}
	}
	for _, part := range parts[e.to] {
		c := e
		c.to, c.refresh = part, false
		*edges = append(*edges, c)
		b.dependOnChildren(c, parts, edges)
	}
}
