package luaapi

import (
	"errors"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/facts"
)

// A fact that is a text has no fields, but Lua gives nil for most fields of a text, because it
// looks them up in the library string. So in a path such as facts.os.release.major, the value
// before the last name is passed through a function. If the last name is a part with a fact of
// its own, such as release_major, the function returns a table with that part; it refuses other
// names. Parts of the version are also found after the fact was put into a variable.

// FactPath returns the names after facts in a path; nil if e is not such a path.
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

// checkedFact returns the replacement of the object of e; path has its names below facts. It does
// not touch a variable of the script named facts.
func (d *rewriter) checkedFact(e *ast.AttrGetExpr, path []string) ast.Expr {
	last := path[len(path)-1]
	all := &ast.IdentExpr{Value: "facts"}
	all.SetLine(e.Line())
	check := d.call(func(L *lua.LState) int {
		text, ok := L.Get(1).(lua.LString)
		if ok && L.Get(2) == global(d.ev.vm, "facts") && L.GetField(text, last) == lua.LNil {
			L.Push(d.ev.Tables.partOfText(L, path))
			return 1
		}
		L.SetTop(1)
		return 1
	}, d.expr(e.Object), all)
	check.SetLine(e.Line())
	return check
}

// partOfText returns a table with the fact at path, whose last name is a part of a text. It
// throws if there is no such fact.
func (ts *Tables) partOfText(L *lua.LState, path []string) lua.LValue {
	val, err := ts.opts.Facts.At(path)
	if nf, ok := errors.AsType[*facts.NotFoundError](err); ok && nf.Scalar != "" {
		ts.report.throw(L, nf.Hint(), "%w", err)
	}
	if err != nil {
		return L.Get(1)
	}
	t := L.NewTable()
	t.RawSetString(path[len(path)-1], ts.Value("", val))
	return t
}

// versionParts are the parts of the text os.release that are facts.
var versionParts = []string{"major", "minor"}

// checkedText returns the replacement of the object of e, whose key is one of versionParts. If
// the object is the text os.release, the part is the fact os.release_major or os.release_minor.
func (d *rewriter) checkedText(e *ast.AttrGetExpr, part string) ast.Expr {
	check := d.call(func(L *lua.LState) int {
		L.SetTop(1)
		text, ok := L.Get(1).(lua.LString)
		if !ok || d.ev.opts.Facts == nil || L.GetField(text, part) != lua.LNil {
			return 1
		}
		path := []string{"os", "release"}
		if release, err := d.ev.opts.Facts.At(path); err == nil && release == string(text) {
			if _, err := d.ev.opts.Facts.At(append(path, part)); err == nil {
				L.Push(d.ev.Tables.partOfText(L, append(path, part)))
			}
		}
		return 1
	}, d.expr(e.Object))
	check.SetLine(e.Line())
	return check
}
