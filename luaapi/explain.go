package luaapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
)

// explain fills e with the message of gopher-lua, rewritten so that it names the faulty
// expression. What the message lacks is read from the failing instruction and its node.
func (rp *mistakeCollector) explain(L *lua.LState, e *diag.Error, f frame, message string) {
	e.Err = errors.New(message)
	x := explainer{mistakeCollector: rp, L: L, e: e, node: f.node}
	if c := rp.source.chunkOf(f.node); c != nil {
		x.tree = c.tree()
		x.ast = x.tree.Node(f.node)
	}
	x.find()
	for _, rule := range rules {
		if args, ok := match(message, rule.message); ok {
			rule.explain(&x, args)
			return
		}
	}
}

// rules lists the messages of gopher-lua. A % matches any text.
// The second function returns the words of Lua, for errors that a script catches.
var rules = []struct {
	message string
	explain func(x *explainer, args []string)
	caught  func(x *explainer, args []string) string
}{
	{"attempt to index a non-table object(%) with key '%'", (*explainer).index, (*explainer).caughtIndex},
	{notFunction, (*explainer).call, (*explainer).caughtCall},
	{"cannot perform concat operation between % and %", (*explainer).concat, (*explainer).caughtConcat},
	{"cannot perform % operation between % and %", (*explainer).arithmetic, (*explainer).caughtArithmetic},
	{"attempt to compare % with %", (*explainer).compare, (*explainer).caughtCompare},
	{"__unm undefined", (*explainer).unary, (*explainer).caughtUnary},
	{"__len undefined", (*explainer).unary, (*explainer).caughtUnary},
	{"for statement % must be a number", (*explainer).loop, (*explainer).caughtLoop},
	{"bad argument #% to % (% expected, got %)", (*explainer).argument, (*explainer).caughtArgument},
	{"bad argument #% to % (%)", (*explainer).argument, (*explainer).caughtArgument},
	{"table index is %", (*explainer).key, (*explainer).caughtKey},
	{"stack overflow", func(x *explainer, _ []string) { x.e.Err = panicked("callstack overflow") }, nil},
	{"stack overflow in protected calls", func(x *explainer, _ []string) {
		x.say("pcall or xpcall nested more than %d levels deep", maxProtected)
	}, nil},
	{"registry overflow", func(x *explainer, _ []string) {
		x.say("too many values in one call: the limit is about %d", registrySize)
	}, nil},
	{"yield inside of pcall", func(x *explainer, _ []string) { x.say("yield called inside pcall or xpcall") }, nil},
	{"can not yield from outside of a coroutine", func(x *explainer, _ []string) {
		x.say("yield called outside of a coroutine")
	}, nil},
}

// match holds text against a message with % in the place of variable parts, and
// returns these parts.
func match(text, message string) (parts []string, ok bool) {
	literals := strings.Split(message, "%")
	if !strings.HasPrefix(text, literals[0]) {
		return nil, false
	}
	text = text[len(literals[0]):]
	for i, lit := range literals[1:] {
		end := strings.Index(text, lit)
		if i == len(literals)-2 {
			end = len(text) - len(lit)
		}
		if end < 0 || !strings.HasPrefix(text[end:], lit) {
			return nil, false
		}
		parts = append(parts, text[:end])
		text = text[end+len(lit):]
	}
	return parts, text == ""
}

// An explainer makes one message.
type explainer struct {
	*mistakeCollector
	L    *lua.LState
	e    *diag.Error
	tree *syntax.Tree
	node int
	ast  ast.PositionHolder // nil if not known

	fn  *lua.LFunction // the function that failed, if it still runs
	dbg *lua.Debug     // its place on the stack

	top  int  // number of running functions above the one that failed
	inGo bool // a function of this program failed that the function had called
}

func (x *explainer) say(format string, args ...any) { x.e.Err = fmt.Errorf(format, args...) }

// at moves the mistake to the place of an expression.
func (x *explainer) at(expr ast.Expr) {
	if p := x.tree.PosOf(expr); p.Line > 0 {
		p.File = x.e.Pos.File
		x.e.Pos = p
	}
}

// indexed returns the expression whose field was asked for, or nil.
func (x *explainer) indexed() ast.Expr {
	switch n := x.ast.(type) {
	case *ast.AttrGetExpr:
		return n.Object
	case *ast.FuncCallExpr:
		return n.Receiver
	case *ast.IdentExpr: // the receiver in function t:name()
		return n
	}
	return nil
}

// index explains an error about a value that has no fields.
func (x *explainer) index(args []string) {
	object := x.indexed()
	if object == nil {
		x.say("%w", diag.Expected("a table").Got("%s (in the index %q)", article(args[0]), args[1]))
		return
	}
	if args[0] == "nil" && x.undefinedGlobal(object) {
		return
	}
	full := show(x.ast.(ast.Expr))
	fault := x.name(object) + " is " + article(args[0])
	if args[0] != "nil" {
		fault += ", not a table"
	}
	x.say("%s: %s", full, fault)
	x.near(object)
}

// call explains an error about a value that cannot be called.
func (x *explainer) call([]string) {
	if loop, ok := x.ast.(*ast.GenericForStmt); ok {
		v := x.value(x.operand(lua.OP_TFORLOOP).a)
		x.say("for ... in: %s is %s, not an iterator", x.name(loop.Exprs[0]), kindOf(v))
		x.at(loop.Exprs[0])
		if v.Type() == lua.LTTable {
			x.e.Hint = fmt.Sprintf("use pairs(%s) or ipairs(%[1]s)", show(loop.Exprs[0]))
		}
		return
	}
	n, ok := x.ast.(*ast.FuncCallExpr)
	if !ok {
		x.say("%w", diag.Expected("a function to call"))
		return
	}
	what := "is not a function"
	if op := x.operand(lua.OP_CALL, lua.OP_TAILCALL); op.ok {
		if x.register(op.a) == lua.LNil && x.undefinedGlobal(n.Func) {
			return
		}
		what = fmt.Sprintf("is %s, not a function", kindOf(x.register(op.a)))
	}
	if n.Func == nil {
		x.say("%s: '%s' %s", show(n), n.Method, what)
		x.nearIn(n.Receiver, n.Method)
		return
	}
	if id, ok := n.Func.(*ast.IdentExpr); ok {
		x.say("%s %s", x.name(id), what)
		op := x.operand(lua.OP_CALL, lua.OP_TAILCALL)
		switch global := global(x.L, id.Value); {
		case global == lua.LNil:
		case op.ok && x.register(op.a) == global:
			x.e.Hint = "call one of its functions, as " + id.Value + ".NAME(...)"
		default:
			x.e.Hint = fmt.Sprintf("rename the variable: it hides the %s of ccm", id.Value)
		}
		return
	}
	if _, ok := n.Func.(*ast.FuncCallExpr); ok {
		x.say("%s %s", x.name(n.Func), what)
		return
	}
	x.say("%s: %s %s", show(n), x.name(n.Func), what)
	x.near(n.Func)
}

// undefinedGlobal explains an error about an operand that is nil because there is no global of that name. A local
// variable of the name of a global of Lua that scripts do not have gets the hint for that.
func (x *explainer) undefinedGlobal(operand ast.Expr) bool {
	id, ok := operand.(*ast.IdentExpr)
	if !ok || slices.Contains(x.globals.names, id.Value) {
		return false
	}
	locals := x.tree.Locals(x.node)
	if slices.Contains(locals, id.Value) {
		x.e.Hint = absentGlobals[id.Value]
		return false
	}
	x.say("undefined global %q", id.Value)
	x.at(id)
	x.e.Hint = x.globals.undefinedHint(id.Value, locals, false)
	return true
}

// concat explains an error about a value that cannot be joined with dots.
func (x *explainer) concat(args []string) {
	if e, v, ok := x.concatOperand(); ok {
		x.blame(e, v, "a string or a number")
		return
	}
	x.say("cannot join %s and %s with ..", article(args[0]), article(args[1]))
}

// concatOperand returns the last operand that cannot be joined with dots, and its value.
func (x *explainer) concatOperand() (ast.Expr, lua.LValue, bool) {
	n, ok := x.ast.(*ast.StringConcatOpExpr)
	if !ok {
		return nil, nil, false
	}
	operands := []ast.Expr{n.Lhs, n.Rhs}
	for {
		last, ok := operands[len(operands)-1].(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		operands = append(operands[:len(operands)-1], last.Lhs, last.Rhs)
	}
	dbg, first := x.dbg, 0
	if op := x.operand(lua.OP_CONCAT); op.ok {
		first = op.b
	} else if top, ok := x.L.GetStack(x.top); ok { // join is running
		if fn, err := x.L.GetInfo("f", top, lua.LNil); err == nil && fn == lua.LValue(x.join) {
			dbg = top
		}
	}
	for i := len(operands) - 1; i >= 0 && dbg != nil; i-- {
		if _, v := x.L.GetLocal(dbg, first+i+1); v != nil && !lua.LVCanConvToString(v) {
			return operands[i], v, true
		}
	}
	return nil, nil, false
}
