package luaapi

import (
	"math/bits"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua keeps t[1], t[2] and so on in one array, and fills it up to the written index:
// t[2^26 - 1] = 1 would make an array of 1 GiB in one instruction, which nothing can interrupt. So
// arrays are limited. Items beyond the limit are kept like other keys, where # and ipairs do not
// see them. A list that has reached the limit is an error there.

// maxList is how many items a list may have.
const maxList = 1<<22 - 1

// limitLists makes the limit known to gopher-lua, which has it in a variable.
var limitLists = sync.OnceFunc(func() { lua.MaxArrayIndex = maxList + 1 })

// length returns the length of a list, and throws if that cannot be known.
func (lm *limits) length(L *lua.LState, t *lua.LTable) int {
	n := t.Len()
	if n >= maxList {
		lm.report.throw(L, "", "a list must have fewer than %d items", maxList)
	}
	if n > shortList && t.RawGetInt(n-1) == lua.LNil {
		return border(t, n)
	}
	return n
}

// shortList is the length up to which a list keeps the length that gopher-lua gives it: a constructor with holes has
// the length of its last item in Lua too.
const shortList = 64

// border returns the length of a list whose last item, the nth, has a hole before it: that of the part which Lua 5.1
// would keep in an array (ltable.c, computesizes and luaH_getn). After t[1000000] = 1, the length of an empty table is
// 0.
func border(t *lua.LTable, n int) int {
	var counts [32]int // of the items in (2^(i-1), 2^i]
	items := 0
	for i := 1; i <= n; i++ {
		if t.RawGetInt(i) != lua.LNil {
			counts[bits.Len(uint(i-1))]++
			items++
		}
	}
	size, sum := 0, 0
	for i := 0; i < len(counts) && 1<<i/2 < items; i++ {
		if sum += counts[i]; sum > 1<<i/2 {
			size = 1 << i
		}
	}
	for size == 0 || t.RawGetInt(size) != lua.LNil {
		size = max(1, 2*size)
	}
	there := 0
	for size-there > 1 {
		if middle := (there + size) / 2; t.RawGetInt(middle) == lua.LNil {
			size = middle
		} else {
			there = middle
		}
	}
	return there
}

// measured returns the replacement of #x: # of a call with x, which checks and returns x.
func (d *rewriter) measured(e *ast.UnaryLenOpExpr) ast.Expr {
	if !isPath(e.Expr) {
		return e
	}
	if d.len == 0 {
		d.functions = append(d.functions, d.ev.limits.lengths())
		d.len = len(d.functions)
	}
	call := &ast.FuncCallExpr{Func: d.placeholder(d.len - 1), Args: []ast.Expr{e.Expr}, AdjustRet: true}
	call.SetLine(e.Line())
	e.Expr = call
	return e
}

// isPath reports whether an expression is a variable, or a field of one.
func isPath(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return true
	case *ast.AttrGetExpr:
		_, constant := e.Key.(*ast.StringExpr)
		return constant && isPath(e.Object)
	}
	return false
}

// lengths returns the function that checks the operand of #, and returns it, or a list of the length that Lua gives it.
func (lm *limits) lengths() *lua.LFunction {
	if lm.lens == nil {
		lm.lens = lm.vm.NewFunction(func(L *lua.LState) int {
			if t, ok := L.Get(1).(*lua.LTable); ok {
				t = lm.tables.Contents(t)
				if n := lm.length(L, t); n < t.Len() && L.GetMetaField(t, "__len") == lua.LNil {
					L.Push(filled(L, n))
				}
			}
			return 1
		})
	}
	return lm.lens
}

// filled returns a list of n items.
func filled(L *lua.LState, n int) *lua.LTable {
	t := L.CreateTable(n, 0)
	for range n {
		t.Append(lua.LTrue)
	}
	return t
}
