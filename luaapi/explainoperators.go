package luaapi

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// arithmetic explains an error about a value that cannot be calculated with.
func (x *explainer) arithmetic(args []string) {
	if e, v, ok := x.arithmeticOperand(); ok {
		x.blame(e, v, "a number")
		return
	}
	x.say("cannot calculate with %s and %s", article(args[1]), article(args[2]))
}

// arithmeticOperand returns the first operand that is not a number, and its value.
func (x *explainer) arithmeticOperand() (ast.Expr, lua.LValue, bool) {
	n, ok := x.ast.(*ast.ArithmeticOpExpr)
	op := x.operand(lua.OP_ADD, lua.OP_SUB, lua.OP_MUL, lua.OP_DIV, lua.OP_MOD, lua.OP_POW)
	if !ok || !op.ok {
		return nil, nil, false
	}
	if v := x.value(op.b); !isNumber(v) {
		return n.Lhs, v, true
	}
	v := x.value(op.c)
	return n.Rhs, v, !isNumber(v)
}

// isNumber reports whether arithmetic takes a value.
func isNumber(v lua.LValue) bool {
	_, ok := numberValue(v)
	return ok
}

// compare explains an error about two values without an order.
func (x *explainer) compare(args []string) {
	x.say("cannot compare %s with %s", article(args[0]), article(args[1]))
	n, ok := x.ast.(*ast.RelationalOpExpr)
	op := x.operand(lua.OP_LT, lua.OP_LE)
	if !ok || !op.ok {
		return
	}
	left, right := x.value(op.b), x.value(op.c)
	if n.Operator == ">" || n.Operator == ">=" {
		left, right = right, left
	}
	switch {
	case left == lua.LNil:
		x.say("cannot compare nil with %s: %s is nil", kindOf(right), x.name(n.Lhs))
		x.at(n.Lhs)
		x.near(n.Lhs)
	case right == lua.LNil:
		x.say("cannot compare %s with nil: %s is nil", kindOf(left), x.name(n.Rhs))
		x.at(n.Rhs)
		x.near(n.Rhs)
	}
}

// unary explains an error about -x or #x.
func (x *explainer) unary([]string) {
	switch n := x.ast.(type) {
	case *ast.UnaryMinusOpExpr:
		x.blame(n.Expr, x.value(x.operand(lua.OP_UNM).b), "a number")
	case *ast.UnaryLenOpExpr:
		x.blame(n.Expr, x.value(x.operand(lua.OP_LEN).b), "a table or a string")
	}
}

// loop explains an error about the bounds of a numeric for.
func (x *explainer) loop(args []string) {
	n, ok := x.ast.(*ast.NumberForStmt)
	if !ok {
		return
	}
	i := map[string]int{"init": 0, "limit": 1, "step": 2}[args[0]]
	what := [...]string{"first", "last", "step"}[i]
	x.say("the %s value of for is not a number", what)
	if expr := []ast.Expr{n.Init, n.Limit, n.Step}[i]; expr != nil {
		x.at(expr)
		if op := x.operand(lua.OP_FORPREP, lua.OP_FORLOOP); op.ok {
			x.say("the %s value of for: %w", what, diag.Expected("a number").Got("%s", kindOf(x.register(op.a+i))))
			x.near(expr)
		}
	}
}

// argument explains a wrong argument of a function of Lua or ccm.
func (x *explainer) argument(args []string) {
	n, ok := x.ast.(*ast.FuncCallExpr)
	name := args[1]
	if !ok || name != lastName(n) {
		x.say("%s: argument %s: %s", name, args[0], expectation(args[2:]))
		return
	}
	i, _ := number(args[0])
	if n.Func == nil {
		i--
	}
	list := n.Args
	if len(args) == 4 && i > 0 && i <= len(list) {
		switch list[i-1].(type) {
		case *ast.IdentExpr, *ast.AttrGetExpr, *ast.FuncCallExpr:
			x.say("%s: %s: %w", show(n), x.name(list[i-1]), diag.Expected("%s", article(args[2])).Got("%s", article(args[3])))
			x.at(list[i-1])
			if args[3] == "nil" {
				x.near(list[i-1])
			}
			return
		}
	}
	x.say("%s: argument %d: %s", show(n), max(1, i), expectation(args[2:]))
}

func expectation(args []string) string {
	if len(args) == 2 {
		return diag.Expected("%s", article(args[0])).Got("%s", article(args[1])).Error()
	}
	return args[0]
}

// key explains an error about a key that is nil or not a number.
func (x *explainer) key(args []string) {
	key, _ := x.ast.(ast.Expr) // in a divided table
	place := ""
	switch n := x.ast.(type) {
	case *ast.AttrGetExpr:
		if _, constant := n.Key.(*ast.StringExpr); !constant {
			key, place = n.Key, show(n)+": "
		}
	case *ast.TableExpr:
		key = x.constructorKey(n)
	}
	if key != nil {
		x.at(key)
	}
	what, of := "the key", ""
	if place == "" {
		what, of = "a key", " of the table"
	}
	switch key.(type) {
	case *ast.IdentExpr, *ast.AttrGetExpr, *ast.FuncCallExpr:
		what = "the key " + x.name(key)
	}
	x.say("%s%s%s is %s", place, what, of, args[0])
}

// constructorKey returns the key of a table constructor that is nil or not a number; nil if that is
// not known. The fields are set one after the other, each with an instruction.
func (x *explainer) constructorKey(t *ast.TableExpr) ast.Expr {
	if x.fn == nil {
		return nil
	}
	var keys, wrong []ast.Expr
	for _, f := range t.Fields {
		if _, constant := f.Key.(*ast.StringExpr); f.Key != nil && !constant {
			keys = append(keys, f.Key)
		}
	}
	for i, code := range x.fn.Proto.Code {
		if x.fn.Proto.DbgSourcePositions[i] != x.node || int(code>>26) != lua.OP_SETTABLE || len(keys) == 0 {
			continue
		}
		v := x.value(int(code) & 0x1ff)
		if n, ok := v.(lua.LNumber); v == lua.LNil || ok && n != n {
			wrong = append(wrong, keys[0])
		}
		keys = keys[1:]
	}
	if len(wrong) > 1 { // they were in the same register
		wrong = slices.DeleteFunc(wrong, func(e ast.Expr) bool { return x.eval(e) != lua.LNil })
	}
	if len(wrong) != 1 {
		return nil
	}
	return wrong[0]
}

// blame reports that the value v of expr is not of the wanted kind.
func (x *explainer) blame(expr ast.Expr, v lua.LValue, want string) {
	path := ""
	if _, ok := expr.(*ast.AttrGetExpr); ok {
		path = show(expr) + ": "
	}
	x.say("%s%s: %w", path, x.name(expr), diag.Expected("%s", want).Got("%s", kindOf(v)))
	x.at(expr)
	if v == lua.LNil {
		x.near(expr)
	}
}
