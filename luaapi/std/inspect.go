package std

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/luadata"
)

func inspectLibrary() *Library {
	return &Library{
		Name: "inspect",
		Doc:  "Formats values as Lua code for people to read. Compatible with inspect.lua, which Neovim includes as vim.inspect.",
		Values: []Value{{
			Name: "KEY", Type: "userdata", Doc: "Marks a key in the path passed to process.",
			Example: `inspect({ a = 1 }, { process = function(v, path) if path[#path] ~= inspect.KEY then return v end return v .. "!" end })`, Result: "'{\\n  [\"a!\"] = 1\\n}'",
			Get: func(s *instance, L *lua.LState) lua.LValue { return s.pathMarks(L).key },
		}, {
			Name: "METATABLE", Type: "userdata", Doc: "Marks a metatable in the path passed to process.",
			Example: `inspect(setmetatable({}, { a = 1 }), { process = function(v, path) if path[#path] ~= inspect.METATABLE then return v end end })`, Result: `"{}"`,
			Get: func(s *instance, L *lua.LState) lua.LValue { return s.pathMarks(L).metatable },
		}},
		Funcs: []Func{{
			Signature: `inspect(value: any, options?: { depth?: integer, newline?: string, indent?: string, limit?: integer, tostring?: boolean, process?: fun(item: any, path: any[]): any }): string`,
			Doc: "Formats a value on one or several lines: list items of a table first, then its keys, sorted. A " +
				"table that occurs again is <table 1>. Tables below depth are {...}. newline and indent set the " +
				"line breaks and indentation. Entries of a table beyond limit are only counted. With tostring, a " +
				"table with __tostring is formatted by it. process is called with each value, key and metatable " +
				"and its path, and its result is formatted instead; nil omits the value.",
			Example: `inspect({ 1, "two", x = { y = true } })`, Result: "'{ 1, \"two\",\\n  x = {\\n    y = true\\n  }\\n}'",
			Fn: inspectCall,
		}},
	}
}

// openInspect makes a table that can be called.
func openInspect(s *instance, L *lua.LState) lua.LValue {
	lib := inspectLibrary()
	t := s.in.Tables.Library(lib.Name, s.contents(L, lib))
	fn := s.function("", &lib.Funcs[0])
	t.Metatable.(*lua.LTable).RawSetString("__call", L.NewFunction(func(L *lua.LState) int {
		L.Remove(1) // the table itself
		return fn(L)
	}))
	return t
}

// inspectOptions are options for formatting a value. The zero value is the default.
type inspectOptions struct {
	depth           int // 0 means without bounds
	newline, indent string
	limit           int  // the maximum number of written entries of a table, 0 for all
	tostring        bool // whether the __tostring of tables is called
}

func inspectCall(c *call) int {
	v := c.L.Get(1)
	if fn, ok := c.option(2, "process").(*lua.LFunction); ok {
		p := processor{call: c, fn: fn, results: make(map[lua.LValue]lua.LValue)}
		v = p.process(v, nil)
	}
	o := inspectOptions{newline: c.optionStr(2, "newline", "\n"), indent: c.optionStr(2, "indent", "  ")}
	if d, ok := c.option(2, "depth").(lua.LNumber); ok {
		if o.depth = clampInt(float64(d)); o.depth <= 0 {
			o.depth = -1
		}
	}
	if n, ok := c.option(2, "limit").(lua.LNumber); ok {
		o.limit = max(0, clampInt(float64(n)))
	}
	o.tostring = c.option(2, "tostring") == lua.LTrue
	return c.giveStr(inspectWith(c, v, o))
}

// inspect formats v. Options with a zero value have no effect.
func inspect(c *call, v lua.LValue, o inspectOptions) string {
	if o.newline == "" {
		o.newline, o.indent = "\n", "  "
	}
	return inspectWith(c, v, o)
}

func inspectWith(c *call, v lua.LValue, o inspectOptions) string {
	w := inspector{call: c, inspectOptions: o, times: make(map[*lua.LTable]int), ids: make(map[lua.LValue]int), last: make(map[string]int)}
	w.count(v, 0)
	w.value(v)
	return w.out.String()
}

// An inspector writes one value.
type inspector struct {
	*call
	inspectOptions
	out   strings.Builder
	level int
	times map[*lua.LTable]int // the number of occurrences of a table
	ids   map[lua.LValue]int
	last  map[string]int // the last number of each kind
}

// count counts the occurrences of each table.
func (w *inspector) count(v lua.LValue, depth int) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return
	}
	if depth > maxDepth {
		w.fail("tables are nested more than %d levels deep", maxDepth)
	}
	w.times[t]++
	if w.times[t] > 1 {
		return
	}
	contents := w.in.Tables.Listing(w.L, t)
	for k, e := contents.Next(lua.LNil); k != lua.LNil; k, e = contents.Next(k) {
		w.count(k, depth+1)
		w.count(e, depth+1)
	}
	if mt := w.metatable(t); mt != nil {
		w.count(mt, depth+1)
	}
}

// metatable returns the result of getmetatable in a script, if that is a table.
func (w *inspector) metatable(t *lua.LTable) *lua.LTable {
	mt, ok := t.Metatable.(*lua.LTable)
	if !ok || mt == w.array {
		return nil
	}
	if protected := mt.RawGetString("__metatable"); protected != lua.LNil {
		mt, _ = protected.(*lua.LTable)
	}
	return mt
}

// id returns the number of a value among the values of its kind.
func (w *inspector) id(v lua.LValue, kind string) int {
	if w.ids[v] == 0 {
		w.last[kind]++
		w.ids[v] = w.last[kind]
	}
	return w.ids[v]
}

func (w *inspector) put(s string) {
	w.out.WriteString(s)
	w.checkRoom(w.out.Len())
}

func (w *inspector) value(v lua.LValue) {
	switch v := v.(type) {
	case lua.LString:
		w.put(quote(string(v)))
	case lua.LNumber:
		switch f := float64(v); {
		case math.IsInf(f, 1):
			w.put("math.huge")
		case math.IsInf(f, -1):
			w.put("-math.huge")
		default:
			w.put(v.String())
		}
	case lua.LBool, *lua.LNilType:
		w.put(v.String())
	case *lua.LTable:
		w.table(v)
	case *lua.LUserData:
		switch {
		case v == w.null:
			w.put("json.null")
		case w.L.GetMetaField(v, "__tostring") != lua.LNil:
			w.put("<" + w.L.ToStringMeta(v).String() + ">")
		default:
			w.put(fmt.Sprintf("<userdata %d>", w.id(v, "userdata")))
		}
	default:
		kind := v.Type().String()
		w.put(fmt.Sprintf("<%s %d>", kind, w.id(v, kind)))
	}
}

func (w *inspector) table(t *lua.LTable) {
	if w.ids[t] > 0 {
		w.put(fmt.Sprintf("<table %d>", w.ids[t]))
		return
	}
	if w.depth < 0 || w.depth > 0 && w.level >= w.depth {
		w.put("{...}")
		return
	}
	if w.tostring && w.L.GetMetaField(t, "__tostring") != lua.LNil {
		w.put("<" + w.L.ToStringMeta(t).String() + ">")
		return
	}
	if w.times[t] > 1 {
		w.put(fmt.Sprintf("<%d>", w.id(t, "table")))
	}
	contents := w.in.Tables.Listing(w.L, t)
	n := 0
	for contents.RawGetInt(n+1) != lua.LNil {
		n++
	}
	keys := keysBehind(contents, n)
	mt := w.metatable(t)
	w.put("{")
	w.level++
	listed, left := n, 0
	if w.limit > 0 && n+len(keys) > w.limit {
		left = n + len(keys) - w.limit
		listed = min(n, w.limit)
		keys = keys[:w.limit-listed]
	}
	for i := 1; i <= listed; i++ {
		if i > 1 {
			w.put(",")
		}
		w.put(" ")
		w.value(contents.RawGetInt(i))
	}
	for i, k := range keys {
		if n > 0 || i > 0 {
			w.put(",")
		}
		w.line()
		w.key(k)
		w.put(" = ")
		w.value(contents.RawGet(k))
	}
	if left > 0 {
		w.put(",")
		if len(keys) > 0 {
			w.line()
		} else {
			w.put(" ")
		}
		w.put(fmt.Sprintf("... %d more", left))
	}
	if mt != nil {
		if n+len(keys) > 0 {
			w.put(",")
		}
		w.line()
		w.put("<metatable> = ")
		w.value(mt)
	}
	w.level--
	switch {
	case len(keys) > 0 || mt != nil:
		w.line()
	case n > 0:
		w.put(" ")
	}
	w.put("}")
}

// keysBehind returns the keys of t in order, without the positions 1 to n.
func keysBehind(t *lua.LTable, n int) []lua.LValue {
	all := sortedKeys(t)
	keys := all[:0]
	for _, k := range all {
		if i, ok := k.(lua.LNumber); ok && i >= 1 && i <= lua.LNumber(n) && i == lua.LNumber(int(i)) {
			continue
		}
		keys = append(keys, k)
	}
	return keys
}

func (w *inspector) line() {
	w.put(w.newline)
	for range w.level {
		w.put(w.indent)
	}
}

func (w *inspector) key(k lua.LValue) {
	if s, ok := k.(lua.LString); ok && luadata.IsName(string(s)) {
		w.put(string(s))
		return
	}
	w.put("[")
	w.value(k)
	w.put("]")
}

// quote formats a string as a literal of Lua: in single quotes if it has double quotes and no
// single ones.
func quote(s string) string {
	q := byte('"')
	if strings.Contains(s, `"`) && !strings.Contains(s, "'") {
		q = '\''
	}
	var out strings.Builder
	out.WriteByte(q)
	for i := range len(s) {
		ch := s[i]
		switch {
		case ch == q || ch == '\\':
			out.WriteByte('\\')
			out.WriteByte(ch)
		case ch >= ' ' && ch != 127:
			out.WriteByte(ch)
		case ch >= '\a' && ch <= '\r':
			out.WriteByte('\\')
			out.WriteByte("abtnvfr"[ch-'\a'])
		case i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			fmt.Fprintf(&out, "\\%03d", ch)
		default:
			fmt.Fprintf(&out, "\\%d", ch)
		}
	}
	out.WriteByte(q)
	return out.String()
}
