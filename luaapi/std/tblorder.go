package std

import (
	"cmp"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// tblOrder make lists of lists, and look for values in lists.
var tblOrder = []Func{{
	Signature: `sort(list: any[], less?: fun(a: any, b: any): boolean): any[]`,
	Doc:       "Returns the sorted list: by less, or numbers by value and strings by bytes. The sort is stable. Without less, other values are an error.",
	Example:   `tbl.sort({ "b", "c", "a" })`, Result: `{ "a", "b", "c" }`,
	Fn: func(c *call) int {
		list, compare := c.values(1), naturalOrder
		if less := c.fn(2); less != nil {
			compare = func(c *call, a, b lua.LValue) int { return orderByLess(c, less, a, b) }
		}
		slices.SortStableFunc(list, func(a, b lua.LValue) int { return compare(c, a, b) })
		return c.giveList(list)
	},
}, {
	Signature: `sort_by(list: any[], key: string|fun(value: any): any): any[]`,
	Doc:       "Returns the list sorted by keys: a field of the values, or the result of a function. Keys other than numbers or strings are an error.",
	Example:   `tbl.sort_by({ { n = 2 }, { n = 1 } }, "n")[1].n`, Result: `1`,
	Fn: func(c *call) int {
		type sortEntry struct{ key, value lua.LValue }
		var list []sortEntry
		for _, v := range c.values(1) {
			list = append(list, sortEntry{keyOf(c, 2, v), v})
		}
		slices.SortStableFunc(list, func(a, b sortEntry) int { return naturalOrder(c, a.key, b.key) })
		out := make([]lua.LValue, len(list))
		for i, k := range list {
			out[i] = k.value
		}
		return c.giveList(out)
	},
}, {
	Signature: `reverse(list: any[]): any[]`,
	Doc:       "Returns the list in reverse order.",
	Example:   `tbl.reverse({ 1, 2, 3 })`, Result: `{ 3, 2, 1 }`,
	Fn: func(c *call) int {
		list := c.values(1)
		slices.Reverse(list)
		return c.giveList(list)
	},
}, {
	Signature: `unique(list: any[]): any[]`,
	Doc:       "Returns the list without duplicates. Tables are compared by identity.",
	Example:   `tbl.unique({ "a", "b", "a" })`, Result: `{ "a", "b" }`,
	Fn: func(c *call) int {
		seen := make(map[lua.LValue]bool)
		return c.giveList(slices.DeleteFunc(c.values(1), func(v lua.LValue) bool {
			dup := seen[v]
			seen[v] = true
			return dup
		}))
	},
}, {
	Signature: `concat(...: any[]): any[]`,
	Doc:       "Returns one list with the values of all lists.",
	Example:   `tbl.concat({ 1 }, { 2, 3 })`, Result: `{ 1, 2, 3 }`,
	Fn: func(c *call) int {
		var out []lua.LValue
		for i := 1; i <= c.L.GetTop(); i++ {
			out = append(out, c.values(i)...)
			c.checkItems(len(out))
		}
		return c.giveList(out)
	},
}, {
	Signature: `slice(list: any[], first: integer, last?: integer): any[]`,
	Doc:       "Returns the values from one position to another, or to the end. Positions below zero count from the end.",
	Example:   `tbl.slice({ "a", "b", "c", "d" }, 2, -2)`, Result: `{ "b", "c" }`,
	Fn: func(c *call) int {
		t, length := c.list(1)
		from, to := c.integer(2, 1), c.integer(3, -1)
		if from < 0 {
			from += length + 1
		}
		if to < 0 {
			to += length + 1
		}
		from, to = max(from, 1), min(to, length)
		out := make([]lua.LValue, max(to-from+1, 0))
		for i := range out {
			out[i] = t.RawGetInt(from + i)
		}
		return c.giveList(out)
	},
}, {
	Signature: `flatten(list: any[], depth?: integer): any[]`,
	Doc:       "Returns the list with nested lists replaced by their values, one level deep or depth levels. Tables with names are kept.",
	Example:   `tbl.flatten({ 1, { 2, { 3 } } })`, Result: `{ 1, 2, { 3 } }`,
	Fn: func(c *call) int {
		return c.giveList(flatten(c, nil, c.values(1), min(c.integer(2, 1), maxDepth)))
	},
}, {
	Signature: `range(first: integer, last: integer, step?: integer): integer[]`,
	Doc:       "Returns the numbers from first to last. A step of zero is an error.",
	Example:   `tbl.range(1, 10, 3)`, Result: `{ 1, 4, 7, 10 }`,
	Fn: func(c *call) int {
		first, last, step := c.number(1), c.number(2), 1.0
		if c.given(3) {
			step = c.number(3)
		}
		if step == 0 {
			c.fail("%w", diag.Expected("a step other than 0"))
		}
		n := (last - first) / step
		if n >= maxItems {
			c.checkItems(maxItems + 1)
		}
		out := c.L.CreateTable(max(0, int(n)+1), 0)
		for i := 0; i <= int(n) && n >= 0; i++ {
			out.RawSetInt(i+1, lua.LNumber(first+float64(i)*step))
		}
		return c.give(out)
	},
}, {
	Signature: `contains(list: any[], value: any): boolean`,
	Doc:       "Reports whether value is in the list. Tables are compared by identity.",
	Example:   `tbl.contains({ "a", "b" }, "b")`, Result: `true`,
	Fn: func(c *call) int { return c.give(lua.LBool(slices.Contains(c.values(1), c.L.Get(2)))) },
}, {
	Signature: `index_of(list: any[], value: any): integer|nil`,
	Doc:       "Returns the first position of value in the list, or nil.",
	Example:   `tbl.index_of({ "a", "b" }, "b")`, Result: `2`,
	Fn: func(c *call) int {
		if i := slices.Index(c.values(1), c.L.Get(2)); i >= 0 {
			return c.give(lua.LNumber(i + 1))
		}
		return c.give(lua.LNil)
	},
}}

// values returns the values of the list that argument n is.
func (c *call) values(n int) []lua.LValue {
	t, length := c.list(n)
	out := make([]lua.LValue, length)
	for i := range out {
		out[i] = t.RawGetInt(i + 1)
	}
	return out
}

// giveList returns a list of values.
func (c *call) giveList(list []lua.LValue) int {
	c.checkItems(len(list))
	t := c.L.CreateTable(len(list), 0)
	for i, v := range list {
		t.RawSetInt(i+1, v)
	}
	return c.give(t)
}

// orderByLess asks a function of the script which of two values comes first.
func orderByLess(c *call, less *lua.LFunction, a, b lua.LValue) int {
	switch {
	case lua.LVAsBool(c.invoke(less, a, b)):
		return -1
	case lua.LVAsBool(c.invoke(less, b, a)):
		return 1
	}
	return 0
}

// naturalOrder orders two numbers or two strings.
func naturalOrder(c *call, a, b lua.LValue) int {
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
	c.fail("%w", diag.Expected("only numbers or only strings to sort").Got("%s and %s", c.describe(a), c.describe(b)))
	return 0
}

// flatten appends the values of list to out, and instead of inner lists their values.
func flatten(c *call, out, list []lua.LValue, depth int) []lua.LValue {
	for _, v := range list {
		t, ok := v.(*lua.LTable)
		if !ok || depth <= 0 || !isList(c, t) {
			out = append(out, v)
			c.checkItems(len(out))
			continue
		}
		c.look()
		t = c.in.Tables.Listing(c.L, t)
		inner := make([]lua.LValue, t.Len())
		for i := range inner {
			inner[i] = t.RawGetInt(i + 1)
		}
		out = flatten(c, out, inner, depth-1)
	}
	return out
}

// isList reports whether a table has positions, or is empty, and has no names.
func isList(c *call, t *lua.LTable) bool {
	t = c.in.Tables.Listing(c.L, t)
	k, _ := t.Next(after(t.Len()))
	return k == lua.LNil
}
