package luaapi

import (
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// arithmetic explains an error about a value that cannot be calculated with.
func (x *explainer) arithmetic(args []string) {
	n, ok := x.ast.(*ast.ArithmeticOpExpr)
	op := x.operand(lua.OP_ADD, lua.OP_SUB, lua.OP_MUL, lua.OP_DIV, lua.OP_MOD, lua.OP_POW)
	if ok && op.ok {
		for _, side := range []struct {
			expr ast.Expr
			at   int
		}{{n.Lhs, op.b}, {n.Rhs, op.c}} {
			if v := x.value(side.at); !numeric(v) {
				x.blame(side.expr, v, "a number")
				return
			}
		}
	}
	x.say("cannot calculate with %s and %s", article(args[1]), article(args[2]))
}

// numeric reports whether arithmetic takes v.
func numeric(v lua.LValue) bool {
	s, ok := v.(lua.LString)
	if !ok {
		return v.Type() == lua.LTNumber
	}
	text := strings.Trim(string(s), " \t\n")
	_, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		_, err = strconv.ParseFloat(text, 64)
	}
	return err == nil
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
			x.say("the %s value of for: want a number, got %s", what, kindOf(x.register(op.a+i)))
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
			x.say("%s: %s is %s, want %s", show(n), x.name(list[i-1]), article(args[3]), article(args[2]))
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
		return fmt.Sprintf("want %s, got %s", article(args[0]), article(args[1]))
	}
	return args[0]
}

// key explains an error about a key that is nil or not a number.
func (x *explainer) key(args []string) {
	n, ok := x.ast.(*ast.AttrGetExpr)
	if !ok {
		x.say("a key of the table is %s", args[0])
		return
	}
	x.at(n.Key)
	if _, ok := n.Key.(*ast.NilExpr); ok {
		x.say("%s: the key is nil", show(n))
		return
	}
	x.say("%s: the key %s is %s", show(n), x.name(n.Key), args[0])
}

// blame reports that the value v of expr is not of the wanted kind.
func (x *explainer) blame(expr ast.Expr, v lua.LValue, want string) {
	path := ""
	if _, ok := expr.(*ast.AttrGetExpr); ok {
		path = show(expr) + ": "
	}
	x.say("%s%s is %s, want %s", path, x.name(expr), kindOf(v), want)
	x.at(expr)
	if v == lua.LNil {
		x.near(expr)
	}
}
