package luaapi

import (
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// foldedNumber returns the value of an expression of constants that gopher-lua computes when it compiles.
func foldedNumber(e ast.Expr) (float64, bool) {
	switch e := e.(type) {
	case *ast.NumberExpr:
		v, ok := numberOf(e.Value)
		n, isNumber := v.(lua.LNumber)
		return float64(n), ok && isNumber
	case *ast.UnaryMinusOpExpr:
		v, ok := foldedNumber(e.Expr)
		return -v, ok
	case *ast.ArithmeticOpExpr:
		a, ok := foldedNumber(e.Lhs)
		if !ok {
			return 0, false
		}
		b, ok := foldedNumber(e.Rhs)
		if !ok {
			return 0, false
		}
		switch e.Operator {
		case "+":
			return a + b, true
		case "-":
			return a - b, true
		case "*":
			return a * b, true
		case "/":
			return a / b, true
		case "%":
			return math.Mod(a, b), true
		case "^":
			return math.Pow(a, b), true
		}
	}
	return 0, false
}

// negativeZero returns an expression with the value -0 that is computed when it runs: gopher-lua has one constant for 0
// and -0, so 1/0 would be negative in a function with both.
func negativeZero(line int) ast.Expr {
	length := &ast.UnaryLenOpExpr{Expr: &ast.StringExpr{}}
	minus := &ast.UnaryMinusOpExpr{Expr: length}
	length.SetLine(line)
	length.Expr.SetLine(line)
	minus.SetLine(line)
	return minus
}

// negated returns the replacement of x in -x. Lua gives the metamethod __unm its operand twice, and modules rely on that.
// gopher-lua gives it once. So an operand with one is replaced by an object that has the result for its own __unm.
func (d *rewriter) negated(operand ast.Expr, line int) ast.Expr {
	if d.minus == 0 {
		d.minus = d.addFunction(func(L *lua.LState) int {
			v := L.Get(1)
			if v.Type() != lua.LTNumber {
				if fn := L.GetMetaField(v, "__unm"); fn.Type() == lua.LTFunction {
					L.Push(fn)
					L.Push(v)
					L.Push(v)
					L.Call(2, 1)
					v = resultOfMinus(L, L.Get(-1))
				}
			}
			L.Push(v)
			return 1
		}) + 1
	}
	call := &ast.FuncCallExpr{Func: d.placeholder(d.minus - 1), Args: []ast.Expr{operand}, AdjustRet: true}
	call.SetLine(line)
	return call
}

// resultOfMinus returns an object o for which -o is the value.
func resultOfMinus(L *lua.LState, value lua.LValue) lua.LValue {
	o, mt := L.NewUserData(), L.CreateTable(0, 1)
	mt.RawSetString("__unm", L.NewFunction(func(L *lua.LState) int {
		L.Push(value)
		return 1
	}))
	o.Metatable = mt
	return o
}
