package luaapi

import (
	"fmt"
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
)

// An instruction is one of gopher-lua's: six bits of operation, eight of A, nine
// each of C and B (see its opcode.go). A B or C from 256 on is a constant.
type instruction struct {
	a, b, c int
	ok      bool
}

const constantBit = 1 << 8

// find sets x.fn to the running function of the script that the message is about: the innermost
// one, or the one that called a function of this program.
func (x *explainer) find() {
	for level := range 2 {
		x.inGo = level == 1
		dbg, ok := x.L.GetStack(x.top + level)
		if !ok {
			return
		}
		fn, err := x.L.GetInfo("fl", dbg, lua.LNil)
		if f, ok := fn.(*lua.LFunction); ok && err == nil && !f.IsG {
			if dbg.CurrentLine == x.node {
				x.fn, x.dbg = f, dbg
			}
			return
		}
	}
}

// operand returns the instruction compiled for the node of the message. Ops are its possible
// operations.
func (x *explainer) operand(ops ...int) instruction { return x.instruction(x.node, ops...) }

func (x *explainer) instruction(node int, ops ...int) instruction {
	if x.fn == nil {
		return instruction{}
	}
	for i, line := range x.fn.Proto.DbgSourcePositions {
		if line != node || i >= len(x.fn.Proto.Code) {
			continue
		}
		code := x.fn.Proto.Code[i]
		if slices.Contains(ops, int(code>>26)) {
			return instruction{a: int(code>>18) & 0xff, b: int(code) & 0x1ff, c: int(code>>9) & 0x1ff, ok: true}
		}
	}
	return instruction{}
}

// value returns the value of operand B or C of the failing instruction.
func (x *explainer) value(at int) lua.LValue {
	if x.fn == nil {
		return lua.LNil
	}
	if at&constantBit != 0 {
		return x.fn.Proto.Constants[at&^constantBit]
	}
	return x.register(at)
}

// register returns a register of the failed function. Local variables are registers, and the
// others are locals without a name.
func (x *explainer) register(at int) lua.LValue {
	if _, v := x.L.GetLocal(x.dbg, at+1); v != nil {
		return v
	}
	return lua.LNil
}

// near gives the hint for an unknown field: the nearest existing one, or why there is none.
func (x *explainer) near(expr ast.Expr) {
	if n, ok := expr.(*ast.AttrGetExpr); ok {
		if key, ok := n.Key.(*ast.StringExpr); ok {
			x.nearIn(n.Object, key.Value)
		}
	}
}

func (x *explainer) nearIn(object ast.Expr, key string) {
	if id, ok := object.(*ast.IdentExpr); ok {
		if hint := absentGlobals[id.Value+"."+key]; hint != "" {
			x.e.Hint = hint
			return
		}
	}
	t, ok := x.eval(object).(*lua.LTable)
	if !ok {
		return
	}
	x.e.Hint = diag.DidYouMean(key, stringKeys(x.contents(t)))
}

// stringKeys returns the names in a table in their order.
func stringKeys(t *lua.LTable) []string {
	var keys []string
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if s, ok := k.(lua.LString); ok {
			keys = append(keys, string(s))
		}
	}
	return keys
}

// eval returns the value of a name or a field without calling anything; nil if unknown.
func (x *explainer) eval(e ast.Expr) lua.LValue {
	switch e := e.(type) {
	case *ast.IdentExpr:
		if x.fn == nil {
			return lua.LNil
		}
		for i := range x.fn.Upvalues {
			if name, v := x.L.GetUpvalue(x.fn, i+1); name == e.Value {
				return v
			}
		}
		if slices.Contains(x.tree.Locals(x.node), e.Value) {
			return x.local(e)
		}
		return global(x.L, e.Value)
	case *ast.AttrGetExpr:
		key, ok := e.Key.(*ast.StringExpr)
		t, isTable := x.eval(e.Object).(*lua.LTable)
		if ok && isTable {
			return x.contents(t).RawGetString(key.Value)
		}
	}
	return lua.LNil
}

// local returns the value of a local variable. The instruction compiled for its name, or for the
// index into it, tells the register.
func (x *explainer) local(id *ast.IdentExpr) lua.LValue {
	for i, n := range x.tree.Nodes {
		node := x.tree.First + i
		var op instruction
		switch n := n.(type) {
		case *ast.IdentExpr:
			if n == id {
				op = x.instruction(node, lua.OP_MOVE, lua.OP_MOVEN)
			}
		case *ast.AttrGetExpr:
			if n.Object == ast.Expr(id) {
				op = x.instruction(node, lua.OP_GETTABLE, lua.OP_GETTABLEKS)
			}
		case *ast.FuncCallExpr:
			if n.Receiver == ast.Expr(id) {
				op = x.instruction(node, lua.OP_SELF)
			}
		}
		if op.ok && op.a != op.b {
			return x.register(op.b)
		}
	}
	return lua.LNil
}

// name returns an expression in messages: its last name in quotes.
func (x *explainer) name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return "'" + e.Value + "'"
	case *ast.AttrGetExpr:
		if key, ok := e.Key.(*ast.StringExpr); ok {
			return "'" + key.Value + "'"
		}
		return "'" + show(e) + "'"
	case *ast.FuncCallExpr:
		return "the result of " + show(e) + "()"
	case *ast.StringExpr, *ast.NumberExpr, *ast.NilExpr, *ast.TrueExpr, *ast.FalseExpr:
		return show(e)
	}
	return "the value"
}

// lastName returns the name of a function in gopher-lua's messages.
func lastName(n *ast.FuncCallExpr) string {
	switch f := n.Func.(type) {
	case nil:
		return n.Method
	case *ast.IdentExpr:
		return f.Value
	case *ast.AttrGetExpr:
		if key, ok := f.Key.(*ast.StringExpr); ok {
			return key.Value
		}
	}
	return "?"
}

// show writes an expression as Lua; of a call, only the function.
func show(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return e.Value
	case *ast.AttrGetExpr:
		if key, ok := e.Key.(*ast.StringExpr); ok && luadata.IsName(key.Value) {
			return object(e.Object) + "." + key.Value
		}
		return object(e.Object) + "[" + object(e.Key) + "]"
	case *ast.FuncCallExpr:
		if e.Func == nil {
			return object(e.Receiver) + ":" + e.Method
		}
		return object(e.Func)
	case *ast.StringExpr:
		if len(e.Value) > 30 {
			return strconv.Quote(e.Value[:27] + "...")
		}
		return strconv.Quote(e.Value)
	case *ast.NumberExpr:
		return e.Value
	case *ast.NilExpr:
		return "nil"
	case *ast.TrueExpr:
		return "true"
	case *ast.FalseExpr:
		return "false"
	}
	return "(...)"
}

// object is show for an operand of another expression.
func object(e ast.Expr) string {
	if call, ok := e.(*ast.FuncCallExpr); ok {
		return show(call) + "()"
	}
	return show(e)
}

// kindOf describes v, with its article.
func kindOf(v lua.LValue) string {
	if s, ok := v.(lua.LString); ok && len(s) <= 40 {
		return fmt.Sprintf("the string %q", string(s))
	}
	if g, ok := groupOf(v); ok {
		return g.String()
	}
	if h, ok := handleOf(v); ok {
		return h.String()
	}
	return article(v.Type().String())
}

// article returns a type of Lua with its article.
func article(typ string) string {
	switch typ {
	case "nil":
		return typ
	case "userdata":
		return "a value of ccm"
	}
	return "a " + typ
}
