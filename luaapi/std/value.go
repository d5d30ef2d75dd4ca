package std

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
)

// Lua has one value for nothing and one kind of table. Two markers keep the distinctions of data
// formats: json.null is a null, and json.array marks a table that is a list even if it is empty.

// nullValue returns json.null.
func (s *instance) nullValue(L *lua.LState) *lua.LUserData {
	if s.null == nil {
		s.null = L.NewUserData()
		s.null.Value = luaapi.Null{}
		mt := L.CreateTable(0, 2)
		mt.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
			L.Push(lua.LString("null"))
			return 1
		}))
		mt.RawSetString("__metatable", lua.LFalse)
		s.null.Metatable = mt
	}
	return s.null
}

// arrayMark returns the metatable of tables that are lists even if they are
// empty.
func (s *instance) arrayMark(L *lua.LState) *lua.LTable {
	if s.array == nil {
		s.array = L.CreateTable(0, 0)
	}
	return s.array
}

// newArray returns a list with the mark.
func (c *call) newArray(n int) *lua.LTable {
	t := c.L.CreateTable(n, 0)
	t.Metatable = c.arrayMark(c.L)
	return t
}

// lua converts plain data to tables that a script can change. A null becomes json.null.
func (c *call) lua(v any) lua.LValue {
	c.look()
	switch v := v.(type) {
	case nil:
		return c.nullValue(c.L)
	case bool:
		return lua.LBool(v)
	case int64:
		return integerValue(strconv.FormatInt(v, 10))
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		t := c.newArray(len(v))
		for i, e := range v {
			t.RawSetInt(i+1, c.lua(e))
		}
		return t
	case map[string]any:
		t := c.L.CreateTable(0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			t.RawSetString(k, c.lua(v[k]))
		}
		return t
	case time.Time:
		return lua.LString(v.Format(time.RFC3339Nano))
	case fmt.Stringer: // dates and times without a zone
		return lua.LString(v.String())
	}
	return lua.LString(fmt.Sprint(v))
}

// integerValue returns the integer in text as a number, or as text if a number of Lua cannot hold
// it exactly.
func integerValue(text string) lua.LValue {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return lua.LString(text) // larger than any number
	}
	if math.Abs(f) < 1<<53 || strconv.FormatFloat(f, 'f', -1, 64) == text || strconv.FormatFloat(f, 'f', 0, 64) == text {
		return lua.LNumber(f)
	}
	return lua.LString(text)
}

// plain converts argument n to plain data: nil, bool, int64, float64, string, []any and
// map[string]any. Other values are a mistake.
func (c *call) plain(n int) any { return c.plainValue(c.L.Get(n), "") }

// plainValue converts a value; what is its name in messages.
func (c *call) plainValue(v lua.LValue, what string) any {
	p := plainConverter{instance: c.instance, L: c.L}
	data := p.value(v)
	if p.fault != "" {
		at := what
		for _, step := range slices.Backward(p.path) {
			at += step
		}
		if at != "" && at[0] == '.' {
			at = at[1:]
		}
		if at != "" {
			at += ": "
		}
		c.failWith(p.hint, "%s%s", at, p.fault)
	}
	return data
}

// A plainConverter converts values of Lua to plain data.
type plainConverter struct {
	*instance
	L     *lua.LState
	open  []*lua.LTable // the tables around the present value
	fault string        // the mistake
	hint  string
	path  []string // the place of the mistake, the innermost step first
	count int      // values so far
}

func (p *plainConverter) fail(hint, format string, args ...any) any {
	p.fault, p.hint = fmt.Sprintf(format, args...), hint
	return nil
}

func (p *plainConverter) value(v lua.LValue) any {
	if p.count++; p.count > maxItems {
		return p.fail("", "more than %d values", maxItems)
	}
	if p.count%1024 == 0 && p.in.Context().Err() != nil {
		return p.fail("", "%s", p.in.Context().Err())
	}
	switch v := v.(type) {
	case *lua.LNilType:
		return nil
	case lua.LBool:
		return bool(v)
	case lua.LNumber:
		return plainNumber(float64(v))
	case lua.LString:
		return string(v)
	case *lua.LTable:
		return p.table(v)
	}
	if v == lua.LValue(p.null) {
		return nil
	}
	return p.fail("", "%v", diag.Expected("data").Got("%s", p.describe(v)))
}

// plainNumber returns an int64 if f is whole, unless it is too large for one, and else a float64.
func plainNumber(f float64) any {
	if math.Abs(f) < 1<<63 && f == math.Trunc(f) {
		return int64(f)
	}
	return f
}

func (p *plainConverter) table(v *lua.LTable) any {
	if len(p.open) == maxDepth {
		return p.fail("", "tables are nested more than %d levels deep", maxDepth)
	}
	if slices.Contains(p.open, v) {
		return p.fail("", "the table contains itself")
	}
	p.open = append(p.open, v)
	defer func() { p.open = p.open[:len(p.open)-1] }()
	t := p.in.Tables.Listing(p.L, v)
	n := t.Len()
	k, e := t.Next(after(n))
	switch {
	case k == lua.LNil && (n > 0 || p.array != nil && t.Metatable == lua.LValue(p.array) || p.in.Tables.IsList(v)):
		return p.list(t, n)
	case n > 0 && k.Type() == lua.LTNumber:
		return p.fail("use json.null for empty items of a list", "the list has holes: item %d is nil", n+1)
	case n > 0:
		return p.fail("", "%v", diag.Expected("a list or a table with names").Got("both: %d items and %s", n, keyText(k)))
	}
	return p.fields(t, k, e)
}

func (p *plainConverter) list(t *lua.LTable, n int) any {
	list := make([]any, n)
	for i := range list {
		e := t.RawGetInt(i + 1)
		if e == lua.LNil {
			return p.fail("use json.null for empty items of a list", "the list has holes: item %d is nil", i+1)
		}
		list[i] = p.value(e)
		if p.fault != "" {
			p.path = append(p.path, fmt.Sprintf("[%d]", i+1))
			return nil
		}
	}
	return list
}

func (p *plainConverter) fields(t *lua.LTable, k, e lua.LValue) any {
	m := make(map[string]any)
	for ; k != lua.LNil; k, e = t.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			return p.fail("", "%v", diag.Expected("a string as key").Got("%s", p.describe(k)))
		}
		m[string(name)] = p.value(e)
		if p.fault != "" {
			p.path = append(p.path, "."+string(name))
			return nil
		}
	}
	return m
}

// nullIn returns the way to the first null in data.
func nullIn(data any) (path string, found bool) {
	switch v := data.(type) {
	case nil:
		return "", true
	case []any:
		for i, e := range v {
			if rest, found := nullIn(e); found {
				return joinPath(fmt.Sprintf("[%d]", i+1), rest), true
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if rest, found := nullIn(v[k]); found {
				return joinPath(k, rest), true
			}
		}
	}
	return "", false
}

// joinPath joins a step and the steps behind it.
func joinPath(step, rest string) string {
	if rest == "" || rest[0] == '[' {
		return step + rest
	}
	return step + "." + rest
}
