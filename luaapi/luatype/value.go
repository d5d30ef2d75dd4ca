package luatype

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// describe describes v for "got ...".
func describe(v lua.LValue) string {
	switch v := v.(type) {
	case *lua.LNilType:
		return "nothing"
	case lua.LBool:
		return v.String()
	case lua.LNumber:
		return "the number " + v.String()
	case lua.LString:
		return displayText(string(v))
	case *lua.LUserData:
		return "a value of ccm"
	}
	return "a " + v.Type().String()
}

// maxShown is the length of a text that messages and reports show in full.
const maxShown = 60

// displayText quotes a text or, for a long one, returns its length.
func displayText(s string) string {
	if len(s) > maxShown {
		return fmt.Sprintf("a string of %d bytes", len(s))
	}
	return strconv.Quote(s)
}

// maxDepth is the maximum depth of nested tables in a state.
const maxDepth = 50

// plain converts a value of Lua to plain data: nil, bool, int64, float64, string, []any and
// map[string]any. For other values it returns an error with their place.
func (lib *library) plain(v lua.LValue, depth int) (any, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LBool:
		return bool(v), nil
	case lua.LString:
		return string(v), nil
	case lua.LNumber:
		if i := int64(v); lua.LNumber(i) == v && math.Abs(float64(v)) <= 1<<53 {
			return i, nil
		}
		return float64(v), nil
	case *lua.LTable:
		if depth == maxDepth {
			return nil, diag.Expected("plain data").Got("tables nested more than %d deep", maxDepth)
		}
		return lib.plainTable(lib.in.Tables.Contents(v), depth)
	}
	return nil, diag.Expected("plain data").Got("%s", describe(v))
}

func (lib *library) plainTable(t *lua.LTable, depth int) (any, error) {
	n := t.Len()
	if n > 0 {
		list := make([]any, n)
		for i := range list {
			x, err := lib.plain(t.RawGetInt(i+1), depth+1)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i+1, err)
			}
			list[i] = x
		}
		if k, _ := t.Next(lua.LNumber(n)); k != lua.LNil {
			return nil, diag.Expected("a list or a table with names").Got("both")
		}
		return list, nil
	}
	m := make(map[string]any)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			return nil, diag.Expected("a name").Got("%s", describe(k))
		}
		x, err := lib.plain(v, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m[string(name)] = x
	}
	return m, nil
}

// luaOf converts plain data to values that a script can change.
func luaOf(L *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		t := L.CreateTable(len(v), 0)
		for i, e := range v {
			t.RawSetInt(i+1, luaOf(L, e))
		}
		return t
	case map[string]any:
		t := L.CreateTable(0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			t.RawSetString(k, luaOf(L, v[k]))
		}
		return t
	}
	return lua.LNil
}

// luaWant returns the wanted properties for functions of a type. A property that was left out is
// nil; to read a property that the type does not have is a mistake.
func (d *definition) luaWant(L *lua.LState, want *resource.Properties) *lua.LTable {
	t := L.CreateTable(0, len(d.schema.Fields))
	for _, e := range want.Table().Entries {
		t.RawSetString(e.Key, luaOf(L, e.Val.Go()))
	}
	if d.edit != nil && t.RawGetString("path") == lua.LNil {
		t.RawSetString("path", lua.LString(want.Name()))
	}
	mt := L.CreateTable(0, 1)
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		key := lua.LVAsString(L.Get(2))
		if f := d.schema.Field(key); f == nil || f.Name != key {
			d.lib.in.Throw(L, diag.DidYouMean(key, d.schema.Names()), "%s: %w", d.name, diag.Unknown("property", key, nil))
		}
		return 0
	}))
	t.Metatable = mt
	return t
}

// raw returns plain data as a word of a command or a name: a string is not changed, unlike in text.
func raw(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return text(v)
}

// text formats plain data for a report.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return displayText(v)
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = text(e)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+"="+text(v[k]))
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

// same reports whether two pieces of plain data are equal. Numbers are equal by
// value, and an empty list is an empty table.
func same(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	switch a := a.(type) {
	case []any:
		if m, ok := b.(map[string]any); ok {
			return len(a) == 0 && len(m) == 0
		}
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		if l, ok := b.([]any); ok {
			return len(a) == 0 && len(l) == 0
		}
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	return a == b
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// sorted returns a list whose order does not matter in one order, without
// repetitions.
func sorted(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	return slices.CompactFunc(list, same)
}

// canonical returns a value of a state in the canonical form of the property f: for the mode "644"
// that is "0644".
func canonical(f *schema.Field, v any) any {
	s, ok := v.(string)
	if !ok || f.Kind != schema.String {
		return v
	}
	return f.Canonical(s)
}
