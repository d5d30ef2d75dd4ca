package std

import (
	"cmp"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// tblWhole compare, copy and join whole tables.
var tblWhole = []Func{{
	Signature: `merge(...: table): table`,
	Doc:       "Returns a table with the keys of all tables; for equal keys the last table wins.",
	Example:   `tbl.merge({ a = 1, b = 1 }, { b = 2 }).b`, Result: `2`,
	Fn: func(c *call) int {
		out := c.L.CreateTable(0, 0)
		for i := 1; i <= c.L.GetTop(); i++ {
			t := c.table(i)
			for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
				out.RawSet(k, v)
			}
		}
		return c.give(out)
	},
}, {
	Signature: `deep_merge(base: table, over: table, options?: { lists?: "replace"|"join" }): table`,
	Doc: "Lays over over base: tables with names are merged key by key, anything else is replaced. " +
		`With lists = "join", lists are joined instead, as data does when its hierarchy merges deep.`,
	Example: `tbl.deep_merge({ web = { port = 80, host = "a" } }, { web = { port = 81 } }).web`, Result: "{\n  host = \"a\",\n  port = 81\n}",
	Fn: func(c *call) int {
		m := merger{c, c.optionStr(3, "lists", "replace") == "join", 0}
		return c.give(m.merge(c.table(1), c.table(2)))
	},
}, {
	Signature: `copy(value: any): any`,
	Doc:       "Returns a deep copy of a table. The copy of a read-only table can be changed. Metatables are not copied.",
	Example:   "local a = { b = { 1 } }\nlocal x = tbl.copy(a)\nx.b[1] = 2\na.b[1]", Result: `1`,
	Fn: func(c *call) int {
		cp := copier{c, make(map[*lua.LTable]*lua.LTable)}
		return c.give(cp.value(c.L.Get(1), 0))
	},
}, {
	Signature: `equal(a: any, b: any): boolean`,
	Doc:       "Reports whether two values are equal; tables are compared by content.",
	Example:   `tbl.equal({ 1, { a = 2 } }, { 1, { a = 2 } })`, Result: `true`,
	Fn: func(c *call) int { return c.give(lua.LBool(equalValues(c, c.L.Get(1), c.L.Get(2), 0))) },
}, {
	Signature: `size(t: table): integer`,
	Doc:       "Returns the number of keys of a table, including positions.",
	Example:   `tbl.size({ "x", a = 1, b = 2 })`, Result: `3`,
	Fn: func(c *call) int {
		t, n := c.table(1), 0
		for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
			n++
		}
		return c.give(lua.LNumber(n))
	},
}, {
	Signature: `is_empty(t: table): boolean`,
	Doc:       "Reports whether a table is empty.",
	Example:   `tbl.is_empty({})`, Result: `true`,
	Fn: func(c *call) int {
		k, _ := c.table(1).Next(lua.LNil)
		return c.give(lua.LBool(k == lua.LNil))
	},
}, {
	Signature: `is_list(value: any): boolean`,
	Doc:       "Reports whether a value is a table without names. An empty table is a list.",
	Example:   `tbl.is_list({ a = 1 })`, Result: `false`,
	Fn: func(c *call) int {
		t, ok := c.L.Get(1).(*lua.LTable)
		return c.give(lua.LBool(ok && isList(c, t)))
	},
}}

// A merger merges tables, and the tables in them.
type merger struct {
	*call
	join  bool
	depth int
}

func (m *merger) merge(base, over *lua.LTable) *lua.LTable {
	if m.depth++; m.depth > maxDepth {
		m.fail("tables are nested more than %d levels deep", maxDepth)
	}
	defer func() { m.depth-- }()
	m.look()
	m.checkItems(m.work)
	base, over = m.in.Tables.Listing(m.L, base), m.in.Tables.Listing(m.L, over)
	out := m.L.CreateTable(0, 0)
	for k, v := base.Next(lua.LNil); k != lua.LNil; k, v = base.Next(k) {
		out.RawSet(k, v)
	}
	for k, v := over.Next(lua.LNil); k != lua.LNil; k, v = over.Next(k) {
		old, isTable := out.RawGet(k).(*lua.LTable)
		next, nextIsTable := v.(*lua.LTable)
		switch {
		case !isTable || !nextIsTable:
			out.RawSet(k, v)
		case m.mergeNames(old) && m.mergeNames(next):
			out.RawSet(k, m.merge(old, next))
		case m.join && isList(m.call, old) && isList(m.call, next):
			out.RawSet(k, m.joinLists(old, next))
		default:
			out.RawSet(k, v)
		}
	}
	return out
}

// mergeNames reports whether t has names, or is empty and could have.
func (m *merger) mergeNames(t *lua.LTable) bool {
	return m.in.Tables.Listing(m.L, t).Len() == 0
}

func (m *merger) joinLists(a, b *lua.LTable) *lua.LTable {
	out := m.newArray(0)
	for _, t := range []*lua.LTable{m.in.Tables.Listing(m.L, a), m.in.Tables.Listing(m.L, b)} {
		for i := range t.Len() {
			out.Append(t.RawGetInt(i + 1))
		}
	}
	return out
}

// A copier copies each table once.
type copier struct {
	*call
	copies map[*lua.LTable]*lua.LTable
}

func (cp *copier) value(v lua.LValue, depth int) lua.LValue {
	t, ok := v.(*lua.LTable)
	if !ok {
		return v
	}
	if out := cp.copies[t]; out != nil {
		return out
	}
	if depth > maxDepth {
		cp.fail("tables are nested more than %d levels deep", maxDepth)
	}
	from := cp.in.Tables.Listing(cp.L, t)
	out := cp.L.CreateTable(from.Len(), 0)
	if cp.array != nil && from.Metatable == lua.LValue(cp.array) {
		out.Metatable = cp.array
	}
	cp.copies[t] = out
	for k, e := from.Next(lua.LNil); k != lua.LNil; k, e = from.Next(k) {
		out.RawSet(k, cp.value(e, depth+1))
	}
	return out
}

// equalValues compares two values, and the values in tables.
func equalValues(c *call, a, b lua.LValue, depth int) bool {
	x, isTable := a.(*lua.LTable)
	y, bothTables := b.(*lua.LTable)
	if !isTable || !bothTables {
		return c.L.Equal(a, b)
	}
	if x == y {
		return true
	}
	c.look()
	if depth > maxDepth {
		c.fail("tables are nested more than %d levels deep, or contain themselves", maxDepth)
	}
	x, y = c.in.Tables.Listing(c.L, x), c.in.Tables.Listing(c.L, y)
	n := 0
	for k, v := x.Next(lua.LNil); k != lua.LNil; k, v = x.Next(k) {
		if !equalValues(c, v, y.RawGet(k), depth+1) {
			return false
		}
		n++
	}
	for k, _ := y.Next(lua.LNil); k != lua.LNil; k, _ = y.Next(k) {
		n--
	}
	return n == 0
}

// compareKeys orders keys by their kind, and numbers and strings by value.
func compareKeys(a, b lua.LValue) int {
	switch x := a.(type) {
	case lua.LNumber:
		if y, ok := b.(lua.LNumber); ok {
			return cmp.Compare(x, y)
		}
	case lua.LString:
		if y, ok := b.(lua.LString); ok {
			return cmp.Compare(x, y)
		}
	}
	return keyRank(a) - keyRank(b)
}

// keyOrder lists the kinds of keys in the order of inspect.
var keyOrder = []lua.LValueType{
	lua.LTNumber, lua.LTBool, lua.LTString, lua.LTTable, lua.LTFunction, lua.LTUserData, lua.LTThread,
}

func keyRank(k lua.LValue) int { return slices.Index(keyOrder, k.Type()) }
