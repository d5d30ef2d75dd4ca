package textedit

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// plain converts a value of a decoder to the types of [Format]. Dates become strings.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		return json.Number(fmt.Sprint(v))
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		if f, err := v.Float64(); err == nil && f != math.Trunc(f) {
			return f
		}
		return v
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = plain(e)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = plain(e)
		}
		return m
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer:
		return v.String()
	}
	return v
}

// same reports whether two values are equal. Numbers are compared by value.
func same(a, b any) bool {
	x, isAlias := a.(alias)
	y, other := b.(alias)
	switch {
	case isAlias && other:
		return x.name == y.name
	case isAlias:
		return same(x.value, b)
	case other:
		return same(a, y.value)
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, same)
	}
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y)) && (!big(a) && !big(b) || whole(a) == whole(b))
	}
	return a == b
}

// number returns a number as float64.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, _ := v.Float64() // infinite if it is too large
		return f, true
	}
	return 0, false
}

// big reports whether a number is beyond the integers that float64 represents exactly; whole returns such a number as
// text.
func big(v any) bool { f, _ := number(v); return math.Abs(f) > 1<<53 }

func whole(v any) string { return fmt.Sprint(v) }

// resolved returns a value with all aliases replaced by their targets, and words by strings.
func resolved(v any) any {
	switch v := v.(type) {
	case alias:
		return resolved(v.value)
	case word:
		return string(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = resolved(e)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = resolved(e)
		}
		return m
	}
	return v
}
