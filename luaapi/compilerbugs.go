package luaapi

import (
	"github.com/yuin/gopher-lua/ast"
)

// fixCompilerBugs changes a syntax tree where gopher-lua 1.1.2 generates wrong code.
//
// In { "a", name = f() } it takes the call behind the name for one whose results
// become positions, so that the table has two of them: "a" and what f returned.
// A call that is cut to one result, as (f()) is, does not have that effect.
//
// In a = (f(a)) it puts f where the last parameter of a function is, before it reads
// the parameter. A call that may give more results it puts elsewhere.
func fixCompilerBugs(stmts []ast.Stmt) {
	last := []string{""} // the last parameters of the functions around
	w := walker{enter: func(n ast.PositionHolder) {
		switch n := n.(type) {
		case *ast.TableExpr:
			fixTable(n)
		case *ast.FunctionExpr:
			last = append(last, lastParameter(n))
		case *ast.AssignStmt:
			fixAssignment(n, last[len(last)-1])
		}
	}, leave: func(n ast.PositionHolder) {
		if _, ok := n.(*ast.FunctionExpr); ok {
			last = last[:len(last)-1]
		}
	}}
	w.stmts(stmts)
}

func fixTable(t *ast.TableExpr) {
	if len(t.Fields) == 0 {
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
}

// lastParameter returns the name of the last parameter of a function, which is self
// if it is a method without others.
func lastParameter(f *ast.FunctionExpr) string {
	if n := len(f.ParList.Names); n > 0 {
		return f.ParList.Names[n-1]
	}
	return "self"
}

func fixAssignment(s *ast.AssignStmt, parameter string) {
	for i := range min(len(s.Lhs), len(s.Rhs)) {
		to, ok := s.Lhs[i].(*ast.IdentExpr)
		call, isCall := s.Rhs[i].(*ast.FuncCallExpr)
		if !ok || !isCall || to.Value != parameter {
			continue
		}
		final := i == len(s.Rhs)-1
		switch {
		case final && len(s.Lhs) == len(s.Rhs):
			call.AdjustRet = false // there is one place for its results
		case !final || call.AdjustRet:
			s.Rhs[i] = firstOf(call)
		}
	}
}

// firstOf returns the expression ({(call)})[1].
func firstOf(call *ast.FuncCallExpr) ast.Expr {
	call.AdjustRet = true
	table := &ast.TableExpr{Fields: []*ast.Field{{Value: call}}}
	key := &ast.NumberExpr{Value: "1"}
	first := &ast.AttrGetExpr{Object: table, Key: key}
	for _, e := range []ast.Expr{table, key, first} {
		e.SetLine(call.Line())
	}
	return first
}
