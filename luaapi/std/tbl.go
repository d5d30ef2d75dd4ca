package std

import (
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

func tblLibrary() *Library {
	return &Library{
		Name: "tbl",
		Doc: "Works on tables without changing them: results are new tables. Lists are tables with the keys 1, " +
			"2, 3 and so on. Functions get one value of a list, or the value and the key of a table with names.",
		Funcs: slices.Concat(tblLists, tblOrder, tblNames, tblWhole),
	}
}

// tblLists go through a list with a function.
var tblLists = []Func{{
	Signature: `map(list: any[], fn: fun(value: any): any): any[]`,
	Doc:       "Returns the list of the results of fn for each value. A nil result adds nothing.",
	Example:   `tbl.map({ 1, 2, 3 }, function(n) return n * 2 end)`, Result: `{ 2, 4, 6 }`,
	Fn: func(c *call) int {
		out := c.L.CreateTable(0, 0)
		eachItem(c, func(v lua.LValue) bool {
			if r := c.invoke(c.fn(2), v); r != lua.LNil {
				out.Append(r)
			}
			return true
		})
		return c.give(out)
	},
}, {
	Signature: `filter(list: any[], fn: fun(value: any): boolean): any[]`,
	Doc:       "Returns the list of the values for which fn returns true.",
	Example:   `tbl.filter({ 1, 2, 3, 4 }, function(n) return n % 2 == 0 end)`, Result: `{ 2, 4 }`,
	Fn: func(c *call) int {
		out := c.L.CreateTable(0, 0)
		eachItem(c, func(v lua.LValue) bool {
			if lua.LVAsBool(c.invoke(c.fn(2), v)) {
				out.Append(v)
			}
			return true
		})
		return c.give(out)
	},
}, {
	Signature: `reduce(list: any[], fn: fun(result: any, value: any): any, first: any): any`,
	Doc:       "Calls fn with the previous result, initially first, and each value. Returns the last result.",
	Example:   `tbl.reduce({ 1, 2, 3 }, function(sum, n) return sum + n end, 0)`, Result: `6`,
	Fn: func(c *call) int {
		result := c.L.Get(3)
		eachItem(c, func(v lua.LValue) bool {
			result = c.invoke(c.fn(2), result, v)
			return true
		})
		return c.give(result)
	},
}, {
	Signature: `find(list: any[], fn: fun(value: any): boolean): (value: any, position: integer|nil)`,
	Doc:       "Returns the first value for which fn returns true, and its position; or nil.",
	Example:   `tbl.find({ "a", "b" }, function(s) return s > "a" end)`, Result: `"b", 2`,
	Fn: func(c *call) int {
		var found lua.LValue
		at := 0
		eachItem(c, func(v lua.LValue) bool {
			at++
			if lua.LVAsBool(c.invoke(c.fn(2), v)) {
				found = v
			}
			return found == nil
		})
		if found == nil {
			return c.give(lua.LNil, lua.LNil)
		}
		return c.give(found, lua.LNumber(at))
	},
}, {
	Signature: `any(list: any[], fn: fun(value: any): boolean): boolean`,
	Doc:       "Reports whether fn returns true for at least one value.",
	Example:   `tbl.any({ 1, 2 }, function(n) return n > 1 end)`, Result: `true`,
	Fn: func(c *call) int {
		found := false
		eachItem(c, func(v lua.LValue) bool {
			found = lua.LVAsBool(c.invoke(c.fn(2), v))
			return !found
		})
		return c.give(lua.LBool(found))
	},
}, {
	Signature: `all(list: any[], fn: fun(value: any): boolean): boolean`,
	Doc:       "Reports whether fn returns true for all values. True for an empty list.",
	Example:   `tbl.all({ 1, 2 }, function(n) return n > 1 end)`, Result: `false`,
	Fn: func(c *call) int {
		all := true
		eachItem(c, func(v lua.LValue) bool {
			all = lua.LVAsBool(c.invoke(c.fn(2), v))
			return all
		})
		return c.give(lua.LBool(all))
	},
}, {
	Signature: `group_by(list: any[], key: string|fun(value: any): any): table<any, any[]>`,
	Doc:       "Returns a table of lists: for each key, the values with that key. The key is a field of the values, or the result of a function. Values without a key are omitted.",
	Example:   `tbl.group_by({ { os = "a", n = 1 }, { os = "b", n = 2 }, { os = "a", n = 3 } }, "os").a[2].n`, Result: `3`,
	Fn: func(c *call) int {
		out := c.L.CreateTable(0, 0)
		eachItem(c, func(v lua.LValue) bool {
			key := keyOf(c, 2, v)
			if key == lua.LNil {
				return true
			}
			group, ok := out.RawGet(key).(*lua.LTable)
			if !ok {
				group = c.L.CreateTable(0, 0)
				out.RawSet(key, group)
			}
			group.Append(v)
			return true
		})
		return c.give(out)
	},
}, {
	Signature: `index_by(list: any[], key: string|fun(value: any): any): table`,
	Doc:       "Returns a table of the values by key, with keys as in group_by. Of several values with the same key, the last is kept.",
	Example:   `tbl.index_by({ { id = "x", n = 1 }, { id = "y", n = 2 } }, "id").y.n`, Result: `2`,
	Fn: func(c *call) int {
		out := c.L.CreateTable(0, 0)
		eachItem(c, func(v lua.LValue) bool {
			if key := keyOf(c, 2, v); key != lua.LNil {
				out.RawSet(key, v)
			}
			return true
		})
		return c.give(out)
	},
}}

// eachItem calls f for the values of the list that argument 1 is, until f returns
// false.
func eachItem(c *call, f func(lua.LValue) bool) {
	t, n := c.list(1)
	for i := 1; i <= n; i++ {
		if !f(t.RawGetInt(i)) {
			return
		}
	}
}

// keyOf returns a key for v: its field named by argument n, or the result of argument n if that is
// a function.
func keyOf(c *call, n int, v lua.LValue) lua.LValue {
	var key lua.LValue
	if name, ok := c.L.Get(n).(lua.LString); ok {
		t, isTable := v.(*lua.LTable)
		if !isTable {
			c.fail("%w", diag.Expected("a list of tables as argument 1").Got("%s in it", c.describe(v)))
		}
		key = c.in.Tables.Contents(t).RawGetString(string(name))
	} else {
		key = c.invoke(c.fn(n), v)
	}
	if f, ok := key.(lua.LNumber); ok && f != f {
		c.fail("the key is not a number that can be a key: %s", key)
	}
	return key
}
