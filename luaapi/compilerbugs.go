package luaapi

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// fixCompilerBugs changes a syntax tree where gopher-lua 1.1.2 generates wrong code.
//
// In { "a", name = f() } it takes the call behind the name for one whose results
// become positions, so that the table has two of them: "a" and what f returned.
// A call that is cut to one result, as (f()) is, does not have that effect.
//
// In a = (f(a)) it puts f where the last parameter of a function is, before it reads the parameter. In a = a.b and c it
// leaves a as it is if a.b is false, and in a, b = ..., c it may give b no value. None of that happens to a value that a
// new local variable gets ([simultaneous]).
//
// In a, b = b, a it puts each value that is not a call into its local variable before it
// evaluates the next one ([simultaneous]).
//
// A for ... in has three hidden variables: iterator, state and control. It sets only as many of them as the loop has
// variables or values, and the others have what was in their registers before ([completeLoop]).
func fixCompilerBugs(stmts []ast.Stmt) {
	fixAssignments(stmts)
	w := syntax.Walker{Enter: func(n ast.PositionHolder) {
		switch n := n.(type) {
		case *ast.TableExpr:
			fixTable(n)
		case *ast.FunctionExpr:
			fixAssignments(n.Stmts)
		case *ast.DoBlockStmt:
			fixAssignments(n.Stmts)
		case *ast.WhileStmt:
			fixAssignments(n.Stmts)
		case *ast.RepeatStmt:
			fixAssignments(n.Stmts)
		case *ast.IfStmt:
			fixAssignments(n.Then)
			fixAssignments(n.Else)
		case *ast.NumberForStmt:
			fixAssignments(n.Stmts)
		case *ast.GenericForStmt:
			fixAssignments(n.Stmts)
			completeLoop(n)
		}
	}}
	w.Stmts(stmts)
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

// fixAssignments replaces the assignments among statements that gopher-lua would compile wrongly.
func fixAssignments(stmts []ast.Stmt) {
	for i, s := range stmts {
		if a, ok := s.(*ast.AssignStmt); ok && (dependent(a) || unsafe(a)) {
			stmts[i] = simultaneous(a)
		}
	}
}

// unsafe reports whether a variable of an assignment gets a value that gopher-lua compiles right for a new local variable
// only.
func unsafe(s *ast.AssignStmt) bool {
	for i := range min(len(s.Lhs), len(s.Rhs)) {
		if _, ok := s.Lhs[i].(*ast.IdentExpr); !ok {
			continue
		}
		switch e := s.Rhs[i].(type) {
		case *ast.LogicalOpExpr, *ast.Comma3Expr:
			return true
		case *ast.FuncCallExpr:
			if e.AdjustRet || i < len(s.Rhs)-1 {
				return true
			}
		}
	}
	return false
}

// dependent reports whether a value or a target of an assignment may read a variable that is
// another target. gopher-lua reads a variable whose value goes to a field when it sets the field.
func dependent(s *ast.AssignStmt) bool {
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		return false
	}
	for i, target := range s.Lhs {
		v, ok := target.(*ast.IdentExpr)
		if !ok {
			continue
		}
		for j, e := range s.Rhs {
			if j < i && mentions(e, v.Value) || j > i && !independent(e, v.Value) {
				return true
			}
		}
		for j, other := range s.Lhs {
			if j != i && mentions(other, v.Value) {
				return true
			}
		}
	}
	return false
}

// independent reports whether the value of an expression is the same before and after an
// assignment to a variable. What runs code may read each variable.
func independent(e ast.Expr, name string) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return e.Value != name
	case *ast.NilExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.NumberExpr, *ast.StringExpr, *ast.FunctionExpr:
		return true
	}
	return false
}

// mentions reports whether a name occurs in an expression.
func mentions(e ast.Expr, name string) bool {
	found := false
	w := syntax.Walker{Enter: func(n ast.PositionHolder) {
		v, ok := n.(*ast.IdentExpr)
		found = found || ok && v.Value == name
	}}
	w.Expr(e)
	return found
}

// simultaneous returns a block with the effect of an assignment, in which hidden variables have the
// parts of its targets and then all values:
//
//	do local o, k = object, key; local v1, v2 = value1, value2; name = v2; o[k] = v1 end
//
// Lua makes assignments from the last one to the first.
func simultaneous(s *ast.AssignStmt) ast.Stmt {
	var parts, values ast.LocalAssignStmt
	hide := func(to *ast.LocalAssignStmt, line int) ast.Expr {
		name := "(value " + strconv.Itoa(len(parts.Names)+len(values.Names)) + ")"
		to.Names = append(to.Names, name)
		hidden := &ast.IdentExpr{Value: name}
		hidden.SetLine(line)
		return hidden
	}
	for _, target := range s.Lhs {
		field, ok := target.(*ast.AttrGetExpr)
		if !ok {
			continue
		}
		for _, part := range []*ast.Expr{&field.Object, &field.Key} {
			if _, constant := (*part).(ast.ConstExpr); !constant {
				parts.Exprs = append(parts.Exprs, single(*part))
				*part = hide(&parts, (*part).Line())
			}
		}
	}
	assignments := make([]ast.Stmt, len(s.Lhs))
	for i, target := range s.Lhs {
		a := &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{hide(&values, target.Line())}}
		a.SetLine(s.Line())
		assignments[len(s.Lhs)-1-i] = a
	}
	values.Exprs = s.Rhs
	block := &ast.DoBlockStmt{}
	for _, local := range []*ast.LocalAssignStmt{&parts, &values} {
		if len(local.Names) > 0 {
			local.SetLine(s.Line())
			block.Stmts = append(block.Stmts, local)
		}
	}
	block.Stmts = append(block.Stmts, assignments...)
	block.SetLine(s.Line())
	block.SetLastLine(s.Line())
	return block
}

// completeLoop gives a for ... in three variables and three values, unless its only value is a call that gives them all.
func completeLoop(loop *ast.GenericForStmt) {
	if len(loop.Exprs) == 1 && manyValues(loop.Exprs[0]) {
		return
	}
	for len(loop.Names) < 3 {
		loop.Names = append(loop.Names, "(loop "+strconv.Itoa(len(loop.Names))+")")
	}
	for len(loop.Exprs) < 3 && !manyValues(loop.Exprs[len(loop.Exprs)-1]) {
		none := &ast.NilExpr{}
		none.SetLine(loop.Line())
		loop.Exprs = append(loop.Exprs, none)
	}
}

// single returns an expression that has one value, that of e.
func single(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}

// separateNames gives each statement local f = function ... f ... end of a text a second value:
// gopher-lua takes the statement for local function f, in which f is the new variable, and it
// does not if there are two values.
func separateNames(stmts []ast.Stmt, text string) {
	var candidates map[int]*ast.LocalAssignStmt // by the number of the word local
	count := 0
	w := syntax.Walker{Enter: func(n ast.PositionHolder) {
		s, ok := n.(*ast.LocalAssignStmt)
		if !ok {
			return
		}
		if len(s.Names) == 1 && len(s.Exprs) == 1 {
			if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok && mentions(f, s.Names[0]) {
				if candidates == nil {
					candidates = make(map[int]*ast.LocalAssignStmt)
				}
				candidates[count] = s
			}
		}
		count++
	}}
	w.Stmts(stmts)
	if candidates == nil {
		return
	}
	count = -1
	last := 0 // the type of the token before
	for r := syntax.NewTokenReader(text); ; {
		t, err := r.Read()
		if err != nil || t.Typ == parse.EOF {
			return
		}
		if t.Typ == parse.TLocal {
			count++
		}
		if s := candidates[count]; s != nil && last == parse.TLocal && t.Typ != parse.TFunction {
			second := &ast.NilExpr{}
			second.SetLine(s.Line())
			s.Exprs = append(s.Exprs, second)
		}
		last = t.Typ
	}
}
