package data

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Merge lays over over base, deep: maps are merged key by key, lists are joined,
// anything else is replaced. Neither argument is changed.
func Merge(base, over map[string]any) map[string]any {
	return merger{}.tables(base, over)
}

// A merger merges deep. If knockout is not "", keys and items of lists with that prefix remove what is inherited: they
// are not in the result.
type merger struct{ knockout string }

func (m merger) tables(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = make(map[string]any, len(over))
	}
	for k := range over {
		if name, ok := m.knockedOut(k); ok {
			delete(out, name)
		}
	}
	for k, v := range over {
		if _, ok := m.knockedOut(k); !ok {
			out[k] = m.values(out[k], v)
		}
	}
	return out
}

// knockedOut returns the key or the item that a text removes, and whether it removes any.
func (m merger) knockedOut(text string) (string, bool) {
	if m.knockout == "" {
		return "", false
	}
	return strings.CutPrefix(text, m.knockout)
}

func (m merger) values(base, over any) any {
	switch o := over.(type) {
	case map[string]any:
		b, ok := base.(map[string]any)
		if ok || m.knockout != "" {
			return m.tables(b, o)
		}
	case []any:
		b, ok := base.([]any)
		if ok || m.knockout != "" {
			return m.lists(b, o)
		}
	}
	return over
}

// lists joins two lists. A text that is the prefix alone removes all inherited items, and one that begins with it those
// that are written like the rest.
func (m merger) lists(base, over []any) []any {
	out := append(make([]any, 0, len(base)+len(over)), base...)
	var own []any
	for _, item := range over {
		text, _ := item.(string)
		name, ok := m.knockedOut(text)
		switch {
		case !ok && m.knockout != "":
			own = append(own, m.values(nil, item)) // a table in it may have keys to remove, of nothing
		case !ok:
			own = append(own, item)
		case name == "":
			out = out[:0]
		default:
			out = slices.DeleteFunc(out, func(inherited any) bool { return scalarText(inherited) == name })
		}
	}
	return append(out, own...)
}

// scalarText returns a text, a number or a boolean as a text; "" for anything else.
func scalarText(v any) string {
	switch v.(type) {
	case string, bool, int64, float64:
		return fmt.Sprint(v)
	}
	return ""
}
