package facts

import (
	"maps"
)

// WithoutVolatile returns the tree without the facts that change by themselves, such as the load and free memory
// ([Gatherer.Volatile] of [Standard]). Two looks at a machine on which nothing was changed give the same. The tree is
// not changed.
func WithoutVolatile(tree map[string]any) map[string]any {
	out := maps.Clone(tree)
	for _, g := range Standard() {
		if _, there := out[g.Name]; !there {
			continue
		}
		for _, path := range g.Volatile {
			if path == "" {
				delete(out, g.Name)
				break
			}
			out[g.Name] = without(out[g.Name], splitPath(path))
		}
	}
	return out
}

// without returns a value without what is at a path in it, where * stands for all items of a list and all names of a table.
func without(val any, path []string) any {
	switch val := val.(type) {
	case map[string]any:
		out := maps.Clone(val)
		for name, inner := range val {
			switch {
			case path[0] != name && path[0] != "*":
			case len(path) == 1:
				delete(out, name)
			default:
				out[name] = without(inner, path[1:])
			}
		}
		return out
	case []any:
		if path[0] != "*" || len(path) == 1 {
			return val
		}
		out := make([]any, len(val))
		for i, item := range val {
			out[i] = without(item, path[1:])
		}
		return out
	}
	return val
}
