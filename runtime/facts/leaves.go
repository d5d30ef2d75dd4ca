package facts

import (
	"maps"
	"slices"
	"strconv"
)

// A Leaf is one fact that holds no others.
type Leaf struct {
	Path  string // as [Facts.Get] takes it
	Value any
}

// Leaves returns what val holds, the fact at path, or "" for the whole tree:
// names in order, list items by their number. An empty table or list is a leaf.
func Leaves(path string, val any) []Leaf {
	var out []Leaf
	switch x := val.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			out = append(out, Leaves(joinPath(path, name), x[name])...)
		}
	case []any:
		for i, item := range x {
			out = append(out, Leaves(joinPath(path, strconv.Itoa(i)), item)...)
		}
	}
	if out == nil {
		out = []Leaf{{Path: path, Value: val}}
	}
	return out
}
