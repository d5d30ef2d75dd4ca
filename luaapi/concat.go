package luaapi

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua joins strings with .. in one instruction of any length: a script that joins
// a string with itself holds gigabytes a few instructions later. So where the result can
// be much longer than the longest operand, a .. b is compiled as a call of join, which
// checks the length first. A string with constants around it stays an instruction: it
// grows only by the length of the constants.

// plainGrowth is how many bytes of constants an instruction may add to a string.
const plainGrowth = 4 << 10

// concat returns the replacement of a chain of joined operands.
func (d *rewriter) concat(e *ast.StringConcatOpExpr) ast.Expr {
	var operands []ast.Expr
	last := e
	for {
		last.Lhs = d.expr(last.Lhs)
		operands = append(operands, last.Lhs)
		next, ok := last.Rhs.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		last = next
	}
	last.Rhs = d.expr(last.Rhs)
	operands = append(operands, last.Rhs)
	if growsLittle(operands) && !d.c.foreign { // join knows how foreign code writes numbers
		return e
	}
	for _, o := range operands {
		switch o := o.(type) { // of the last one all values would be passed
		case *ast.FuncCallExpr:
			o.AdjustRet = true
		case *ast.Comma3Expr:
			o.AdjustRet = true
		}
	}
	call := &ast.FuncCallExpr{Func: d.placeholder(d.makeJoin()), Args: d.listed(operands, e.Line()), AdjustRet: true}
	call.SetLine(e.Line())
	return call
}

// growsLittle reports whether joined operands are few, and at most one value and constants
// that are short.
func growsLittle(operands []ast.Expr) bool {
	values, constants := 0, 0
	for _, o := range operands {
		switch o := o.(type) {
		case *ast.StringExpr:
			constants += len(o.Value)
		case *ast.NumberExpr:
			constants += len(o.Value)
		default:
			values++
		}
	}
	return values <= 1 && constants <= plainGrowth && len(operands) <= manyArguments
}

// makeJoin returns the number of the function that joins.
func (d *rewriter) makeJoin() int {
	if d.join == 0 {
		d.functions = append(d.functions, d.ev.concat.fn)
		d.join = len(d.functions)
	}
	return d.join - 1
}

// A concatenator is the operator .. of scripts.
type concatenator struct {
	limits *limits
	source *sourceMap
	fn     *lua.LFunction // what .. is compiled to
}

// join is the operator .. with the operands as arguments.
func (cc *concatenator) join(L *lua.LState) int {
	n := L.GetTop()
	parts := make([]string, 0, 8)
	size := 0
	for i := 1; i <= n; i++ {
		var part string
		switch v := L.Get(i).(type) {
		case lua.LString:
			part = string(v)
		case lua.LNumber:
			part = cc.source.numberText(L, v)
		default:
			return cc.joinObjects(L, n)
		}
		size += len(part)
		parts = append(parts, part)
	}
	cc.limits.takeString(L, "..", size)
	if n == 2 {
		L.Push(lua.LString(parts[0] + parts[1]))
		return 1
	}
	L.Push(lua.LString(strings.Join(parts, "")))
	return 1
}

// joinObjects joins the n operands on the stack, from the right to the left as Lua
// does, with what the metatables say of those that are no text.
func (cc *concatenator) joinObjects(L *lua.LState, n int) int {
	right := L.Get(n)
	for i := n - 1; i > 0; i-- {
		left := L.Get(i)
		if lua.LVCanConvToString(left) && lua.LVCanConvToString(right) {
			a, b := lua.LVAsString(left), lua.LVAsString(right)
			cc.limits.takeString(L, "..", len(a)+len(b))
			right = lua.LString(a + b)
			continue
		}
		fn := L.GetMetaField(left, "__concat")
		if fn == lua.LNil {
			fn = L.GetMetaField(right, "__concat")
		}
		if fn.Type() != lua.LTFunction {
			// The message of gopher-lua, which explain rewrites.
			L.RaiseError("cannot perform concat operation between %v and %v", left.Type().String(), right.Type().String())
		}
		L.Push(fn)
		L.Push(left)
		L.Push(right)
		L.Call(2, 1)
		right = L.Get(-1)
		L.Pop(1)
	}
	L.Push(right)
	return 1
}

// scriptLevel returns the level of the stack that is level for a script: to it the
// operator .. is no function that is called.
func (cc *concatenator) scriptLevel(L *lua.LState, level int) int {
	if level < 2 {
		return level
	}
	for at := 1; at <= level; at++ {
		th, dbg, ok := cc.limits.stackAt(L, at)
		if !ok {
			break
		}
		if fn, err := th.GetInfo("f", dbg, lua.LNil); err == nil && fn == lua.LValue(cc.fn) {
			level++
		}
	}
	return level
}
