package data

import "maps"

// Merge lays over over base, deep: maps are merged key by key, lists are joined,
// anything else is replaced. Neither argument is changed.
func Merge(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = make(map[string]any, len(over))
	}
	for k, v := range over {
		out[k] = merge(out[k], v)
	}
	return out
}

func merge(base, over any) any {
	switch o := over.(type) {
	case map[string]any:
		if b, ok := base.(map[string]any); ok {
			return Merge(b, o)
		}
	case []any:
		if b, ok := base.([]any); ok {
			return append(append(make([]any, 0, len(b)+len(o)), b...), o...)
		}
	}
	return over
}
