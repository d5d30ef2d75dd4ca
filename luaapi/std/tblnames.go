package std

import (
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// tblNames look at tables with names.
var tblNames = []Func{{
	Signature: `keys(t: table): any[]`,
	Doc:       "Returns the keys sorted: numbers, booleans, strings, then all others in insertion order.",
	Example:   `tbl.keys({ b = 1, a = 2 })`, Result: `{ "a", "b" }`,
	Fn: func(c *call) int { return c.giveList(sortedKeys(c.table(1))) },
}, {
	Signature: `values(t: table): any[]`,
	Doc:       "Returns the values in the order of their keys.",
	Example:   `tbl.values({ b = 1, a = 2 })`, Result: `{ 2, 1 }`,
	Fn: func(c *call) int {
		t := c.table(1)
		list := sortedKeys(t)
		for i, k := range list {
			list[i] = t.RawGet(k)
		}
		return c.giveList(list)
	},
}, {
	Signature: `pairs(t: table): (next: fun(t: table, key: any): any, t: table)`,
	Doc:       "Iterates like pairs, in the order of the keys.",
	Example:   "local seen = ''\nfor k, v in tbl.pairs({ b = 1, a = 2 }) do seen = seen .. k .. v end\nseen", Result: `"a2b1"`,
	Fn: func(c *call) int {
		t := c.table(1)
		keys, i := sortedKeys(t), 0
		return c.give(c.L.NewFunction(func(L *lua.LState) int {
			for i < len(keys) {
				k := keys[i]
				i++
				if v := t.RawGet(k); v != lua.LNil { // the function may have removed the key
					L.Push(k)
					L.Push(v)
					return 2
				}
			}
			L.Push(lua.LNil)
			return 1
		}), t)
	},
}, {
	Signature: `to_list(t: table, fn: fun(value: any, key: any): any): any[]`,
	Doc:       "Returns the list of the results of fn for each value and its key, in the order of the keys. A nil result adds nothing.",
	Example:   `tbl.to_list({ b = 1, a = 2 }, function(v, k) return k .. "=" .. v end)`, Result: `{ "a=2", "b=1" }`,
	Fn: func(c *call) int {
		t := c.table(1)
		out := c.L.CreateTable(0, 0)
		for _, k := range sortedKeys(t) {
			if r := c.invoke(c.fn(2), t.RawGet(k), k); r != lua.LNil {
				out.Append(r)
			}
		}
		return c.give(out)
	},
}, {
	Signature: `map_values(t: table, fn: fun(value: any, key: any): any): table`,
	Doc:       "Returns a table with the same keys and the results of fn for each value and its key. A nil result omits the key.",
	Example:   `tbl.map_values({ a = 1, b = 2 }, function(n) return n * 10 end).b`, Result: `20`,
	Fn: func(c *call) int {
		t := c.table(1)
		out := c.L.CreateTable(0, 0)
		for _, k := range sortedKeys(t) {
			out.RawSet(k, c.invoke(c.fn(2), t.RawGet(k), k))
		}
		return c.give(out)
	},
}, {
	Signature: `filter_values(t: table, fn: fun(value: any, key: any): boolean): table`,
	Doc:       "Returns a table of the keys and values for which fn returns true.",
	Example:   `tbl.filter_values({ a = 1, b = 2 }, function(v, k) return k ~= "a" end)`, Result: "{\n  b = 2\n}",
	Fn: func(c *call) int {
		t := c.table(1)
		out := c.L.CreateTable(0, 0)
		for _, k := range sortedKeys(t) {
			if v := t.RawGet(k); lua.LVAsBool(c.invoke(c.fn(2), v, k)) {
				out.RawSet(k, v)
			}
		}
		return c.give(out)
	},
}, {
	Signature: `pick(t: table, keys: any[]): table`,
	Doc:       "Returns a table with only these keys, if present.",
	Example:   `tbl.pick({ a = 1, b = 2 }, { "b", "c" })`, Result: "{\n  b = 2\n}",
	Fn: func(c *call) int {
		t := c.table(1)
		out := c.L.CreateTable(0, 0)
		for _, k := range c.values(2) {
			out.RawSet(k, t.RawGet(k))
		}
		return c.give(out)
	},
}, {
	Signature: `omit(t: table, keys: any[]): table`,
	Doc:       "Returns the table without these keys.",
	Example:   `tbl.omit({ a = 1, b = 2 }, { "a" })`, Result: "{\n  b = 2\n}",
	Fn: func(c *call) int {
		t := c.table(1)
		without := c.values(2)
		out := c.L.CreateTable(0, 0)
		for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
			if !slices.Contains(without, k) {
				out.RawSet(k, v)
			}
		}
		return c.give(out)
	},
}, {
	Signature: `invert(t: table): table`,
	Doc:       "Returns a table with keys and values swapped. Of several keys with the same value, the last one in order is kept.",
	Example:   `tbl.invert({ a = "x", b = "y" }).y`, Result: `"b"`,
	Fn: func(c *call) int {
		t := c.table(1)
		out := c.L.CreateTable(0, 0)
		for _, k := range sortedKeys(t) {
			v := t.RawGet(k)
			if f, ok := v.(lua.LNumber); ok && f != f {
				c.fail("a value that is not a number cannot be a key")
			}
			out.RawSet(v, k)
		}
		return c.give(out)
	},
}, {
	Signature: `get(t: table, path: string, default?: any): any`,
	Doc:       "Returns the value at a path of names and positions separated by dots, or the default if it does not exist.",
	Example:   `tbl.get({ users = { { name = "ann" } } }, "users.1.name")`, Result: `"ann"`,
	Fn: func(c *call) int {
		var v lua.LValue = c.table(1)
		for step := range strings.SplitSeq(c.str(2), ".") {
			t, ok := v.(*lua.LTable)
			if !ok {
				return c.give(c.L.Get(3))
			}
			t = c.in.Tables.Listing(c.L, t)
			if v = t.RawGetString(step); v == lua.LNil {
				if n, err := strconv.Atoi(step); err == nil {
					v = t.RawGetInt(n)
				}
			}
			if v == lua.LNil {
				return c.give(c.L.Get(3))
			}
		}
		return c.give(v)
	},
}}

// sortedKeys returns the keys of t: numbers sorted, booleans, strings sorted, then all others; equal
// kinds without an order in the order of insertion.
func sortedKeys(t *lua.LTable) []lua.LValue {
	var keys []lua.LValue
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		keys = append(keys, k)
	}
	slices.SortStableFunc(keys, compareKeys)
	return keys
}
