package luaapi

import (
	"errors"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/facts"
)

// A fact that is a text has no fields, but Lua gives nil for most fields of a text: it looks
// them up in the library string. So where a script writes out a path below a fact, such as
// facts.os.release.major, the value before the last name is passed through a function that
// refuses a text.

// FactPath returns the names that follow facts in a path that is written out; nil if e is none.
func FactPath(e ast.Expr) []string {
	get, ok := e.(*ast.AttrGetExpr)
	if !ok {
		return nil
	}
	key, ok := get.Key.(*ast.StringExpr)
	if !ok {
		return nil
	}
	if id, ok := get.Object.(*ast.IdentExpr); ok && id.Value == "facts" {
		return []string{key.Value}
	}
	if path := FactPath(get.Object); path != nil {
		return append(path, key.Value)
	}
	return nil
}

// checkedFact returns the replacement of the object of e, whose names below facts are path. It
// lets a variable facts of the script be.
func (d *rewriter) checkedFact(e *ast.AttrGetExpr, path []string) ast.Expr {
	last := path[len(path)-1]
	all := &ast.IdentExpr{Value: "facts"}
	all.SetLine(e.Line())
	check := d.call(func(L *lua.LState) int {
		text, ok := L.Get(1).(lua.LString)
		if ok && L.Get(2) == d.in.globals.get("facts") && L.GetField(text, last) == lua.LNil {
			d.in.Tables.refuseTextFact(L, path)
		}
		L.SetTop(1)
		return 1
	}, d.expr(e.Object), all)
	check.SetLine(e.Line())
	return check
}

// refuseTextFact throws if path leads through a fact that is a text.
func (ts *Tables) refuseTextFact(L *lua.LState, path []string) {
	_, err := ts.in.opts.Facts.At(path)
	if nf, ok := errors.AsType[*facts.NotFoundError](err); ok && nf.Scalar != "" {
		hint := nf.Hint()
		if nf.Instead != "" {
			hint = "write facts." + nf.Instead
		}
		ts.in.report.throw(L, hint, "%w", err)
	}
}
