package luaapi

import (
	"github.com/yuin/gopher-lua/ast"
)

// mend changes a syntax tree where gopher-lua 1.1.2 would compile it wrongly.
//
// In { "a", name = f() } it takes the call behind the name for one whose results
// become positions, so that the table has two of them: "a" and what f returned.
// A call that is cut to one result, as (f()) is, does not have that effect.
func mend(stmts []ast.Stmt) {
	w := walker{enter: func(n ast.PositionHolder) {
		t, ok := n.(*ast.TableExpr)
		if !ok || len(t.Fields) == 0 {
			return
		}
		last := t.Fields[len(t.Fields)-1]
		if last.Key == nil {
			return
		}
		switch v := last.Value.(type) {
		case *ast.FuncCallExpr:
			v.AdjustRet = true
		case *ast.Comma3Expr:
			v.AdjustRet = true
		}
	}}
	w.stmts(stmts)
}
