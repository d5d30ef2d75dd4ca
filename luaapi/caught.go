package luaapi

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
)

// maxNamed is the size in bytes of the longest text that is parsed again to name a variable in an
// error that a script catches.
const maxNamed = 1 << 18

// caught returns an error as a script gets it from pcall, xpcall or resume: the place is a line,
// and what gopher-lua has thrown has the words of Lua. L is the thread that failed, as it was at
// that moment if that is still known, with some more running functions on top.
func (rp *mistakeCollector) caught(L *lua.LState, thrown lua.LValue, top int) lua.LValue {
	text, ok := thrown.(lua.LString)
	if !ok {
		return thrown
	}
	f, rest, ok := rp.source.cutPosition(string(text))
	if !ok || f.node < nodeBase {
		return thrown
	}
	c := rp.source.chunkOf(f.node)
	x := explainer{mistakeCollector: rp, L: L, e: &diag.Error{Pos: rp.source.linePos(f.node)}, node: f.node, tree: &syntax.Tree{}, top: top}
	for _, rule := range rules {
		args, ok := match(rest, rule.message)
		if !ok || rule.caught == nil {
			continue
		}
		if len(c.text) <= maxNamed {
			x.tree = c.tree()
			x.ast = x.tree.Node(f.node)
		}
		x.find()
		rest = rule.caught(&x, args)
		break
	}
	return lua.LString(fmt.Sprintf("%s:%d: %s", x.e.Pos.File, x.e.Pos.Line, rest))
}

// operandName returns what Lua calls an operand: its kind, its name and the type of its value.
func (x *explainer) operandName(e ast.Expr, typ string) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return fmt.Sprintf("%s '%s' (a %s value)", x.tree.Kind(e), e.Value, typ)
	case *ast.AttrGetExpr:
		name := "?"
		if key, ok := e.Key.(*ast.StringExpr); ok {
			name = key.Value
		}
		return fmt.Sprintf("field '%s' (a %s value)", name, typ)
	}
	return fmt.Sprintf("a %s value", typ)
}

func (x *explainer) caughtIndex(args []string) string {
	return "attempt to index " + x.operandName(x.indexed(), args[0])
}

func (x *explainer) caughtCall([]string) string {
	op := x.operand(lua.OP_CALL, lua.OP_TAILCALL)
	register := op.a
	if _, ok := x.ast.(*ast.GenericForStmt); ok {
		op = x.operand(lua.OP_TFORLOOP)
		register = op.a
	}
	typ := "non-function"
	if op.ok {
		typ = x.register(register).Type().String()
	}
	n, ok := x.ast.(*ast.FuncCallExpr)
	switch {
	case !ok || x.inGo:
		return "attempt to call " + x.operandName(nil, typ)
	case n.Func == nil:
		return fmt.Sprintf("attempt to call method '%s' (a %s value)", n.Method, typ)
	}
	return "attempt to call " + x.operandName(n.Func, typ)
}

func (x *explainer) caughtConcat(args []string) string {
	if e, v, ok := x.concatOperand(); ok {
		return "attempt to concatenate " + x.operandName(e, v.Type().String())
	}
	typ := args[0]
	if typ == "string" || typ == "number" {
		typ = args[1]
	}
	return "attempt to concatenate " + x.operandName(nil, typ)
}

func (x *explainer) caughtArithmetic(args []string) string {
	if e, v, ok := x.arithmeticOperand(); ok {
		return "attempt to perform arithmetic on " + x.operandName(e, v.Type().String())
	}
	typ := args[1]
	if typ == "number" {
		typ = args[2]
	}
	return "attempt to perform arithmetic on " + x.operandName(nil, typ)
}

func (x *explainer) caughtCompare(args []string) string {
	if args[0] == args[1] {
		return fmt.Sprintf("attempt to compare two %s values", args[0])
	}
	return fmt.Sprintf("attempt to compare %s with %s", args[0], args[1])
}

func (x *explainer) caughtUnary([]string) string {
	what, op := "perform arithmetic on", x.operand(lua.OP_UNM)
	var operand ast.Expr
	switch n := x.ast.(type) {
	case *ast.UnaryMinusOpExpr:
		operand = n.Expr
	case *ast.UnaryLenOpExpr:
		what, op, operand = "get length of", x.operand(lua.OP_LEN), n.Expr
	}
	typ := "non-number"
	if op.ok {
		typ = x.value(op.b).Type().String()
	}
	return fmt.Sprintf("attempt to %s %s", what, x.operandName(operand, typ))
}

func (x *explainer) caughtLoop(args []string) string {
	if args[0] == "init" {
		return "'for' initial value must be a number"
	}
	return fmt.Sprintf("'for' %s must be a number", args[0])
}

func (x *explainer) caughtArgument(args []string) string {
	i, _ := number(args[0])
	name := args[1]
	if name == "(anonymous)" {
		name = "?"
	}
	why := fmt.Sprintf("(%s)", args[len(args)-1])
	n, ok := x.ast.(*ast.FuncCallExpr)
	ok = ok && lastName(n) == name
	passed := 0
	if ok {
		passed = len(n.Args)
		if n.Func == nil {
			passed++
		}
	}
	if len(args) == 4 {
		got := args[3]
		if ok && i > passed && (len(n.Args) == 0 || !manyValues(n.Args[len(n.Args)-1])) {
			got = "no value"
		}
		why = fmt.Sprintf("(%s expected, got %s)", args[2], got)
	}
	if ok && n.Func == nil {
		if i--; i == 0 {
			return fmt.Sprintf("calling '%s' on bad self %s", name, why)
		}
	}
	return fmt.Sprintf("bad argument #%d to '%s' %s", i, name, why)
}

func (x *explainer) caughtKey(args []string) string {
	x.key(args)
	return "table index is " + args[0]
}
