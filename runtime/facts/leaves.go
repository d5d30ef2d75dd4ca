package facts

import (
	"maps"
	"slices"
	"strconv"
)

// A Leaf is one fact without fields or items.
type Leaf struct {
	Path  string // in the notation of [Facts.Get]
	Value any
}

// Leaves returns the leaves of val, the fact at path, or "" for the whole tree: names sorted, list
// items by their number. An empty table or list is a leaf.
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
