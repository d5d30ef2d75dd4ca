package luaapi

import (
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
		lm.in.report.throw(L, "", "a list has %d items or more, which is the limit", maxList)
	}
	return n
}

// measured returns the replacement of #x: # of a call with x, which checks and returns x.
func (d *rewriter) measured(e *ast.UnaryLenOpExpr) ast.Expr {
	if !isPath(e.Expr) {
		return e
	}
	if d.len == 0 {
		d.functions = append(d.functions, d.in.limits.lengths())
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

// lengths returns the function that checks the operand of #, and returns it.
func (lm *limits) lengths() *lua.LFunction {
	if lm.lens == nil {
		lm.lens = lm.in.vm.NewFunction(func(L *lua.LState) int {
			if t, ok := L.Get(1).(*lua.LTable); ok {
				lm.length(L, lm.in.Tables.Contents(t))
			}
			return 1
		})
	}
	return lm.lens
}
