package luaapi

import (
	"math"
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// maxNames is the largest number of different names in a part of a divided function. Each may be
// a variable of the function around it, of which there can be 255.
const maxNames = 100

// tableName is the local variable with a divided table. No script can spell it.
const tableName = "(table)"

// A rewriter changes a syntax tree before compilation. It turns declarations into calls of
// declareAtCallSite (callsite.go), takes constants out (constants.go), and divides what is long
// (this file). It has functions of ours join strings, take lengths and read fields of facts
// (concat.go, listlimit.go, factfields.go), and makes do with the registers of gopher-lua
// (registers.go).
type rewriter struct {
	ev        *evaluator
	declarer  *declarer
	c         *chunk
	chunk     int              // its number
	functions []*lua.LFunction // functions in the constants of the code
	join      int              // number of the function that joins strings plus one, or 0
	len       int              // number of the function that returns lengths plus one, or 0
	bound     int              // number of the function for bounds of loops plus one, or 0
	spread    int              // number of the function that returns the items of a list plus one, or 0
	minus     int              // number of the function for operands of the minus sign plus one, or 0
	long      bool             // the text is long enough to be divided
	heavy     bool             // the present function has too many constants
}

// function rewrites the statements of one function, and of those in it.
func (d *rewriter) function(stmts []ast.Stmt) []ast.Stmt {
	outer := d.heavy
	d.heavy = d.long && isHeavy(stmts)
	stmts = d.block(stmts)
	d.heavy = outer
	return stmts
}

// block rewrites a list of statements.
func (d *rewriter) block(stmts []ast.Stmt) []ast.Stmt {
	for _, s := range stmts {
		d.stmt(s)
	}
	if !d.heavy || !isHeavy(stmts) {
		return stmts
	}
	var out, part []ast.Stmt
	var sum weight
	flush := func() {
		if sum.constants > largeTable {
			out = append(out, callStmt(part))
		} else {
			out = append(out, part...)
		}
		part, sum = nil, weight{}
	}
	for _, s := range stmts {
		var w weight
		if movable(s) {
			w = weighStmts(s)
		}
		if !movable(s) || w.varargs {
			flush()
			out = append(out, s)
			continue
		}
		if len(part) > 0 && (sum.constants+w.constants > fewConstants || len(sum.names)+len(w.names) > maxNames) {
			flush()
		}
		if sum.names == nil {
			sum.names = make(map[string]bool)
		}
		part = append(part, s)
		sum.constants += w.constants
		for name := range w.names {
			sum.names[name] = true
		}
	}
	flush()
	return out
}

// movable reports whether a statement has the same effect inside a function that is called in its
// place.
func movable(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.FuncCallStmt, *ast.AssignStmt:
		return true
	}
	return false
}

// callStmt returns the statement (function() stmts end)().
func callStmt(stmts []ast.Stmt) ast.Stmt {
	s := &ast.FuncCallStmt{Expr: callExpr(stmts)}
	s.SetLine(hiddenLine)
	return s
}

// callExpr returns the expression (function() stmts end)().
func callExpr(stmts []ast.Stmt) *ast.FuncCallExpr {
	fn := &ast.FunctionExpr{ParList: &ast.ParList{}, Stmts: stmts}
	fn.SetLine(stmts[0].Line())
	fn.SetLastLine(stmts[0].Line())
	e := &ast.FuncCallExpr{Func: fn, AdjustRet: true}
	e.SetLine(hiddenLine)
	return e
}

func (d *rewriter) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		d.exprs(s.Lhs)
		d.exprs(s.Rhs)
	case *ast.LocalAssignStmt:
		d.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		d.parts(s.Expr) // it stays a call
	case *ast.DoBlockStmt:
		s.Stmts = d.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = d.expr(s.Condition)
		s.Stmts = d.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Stmts = d.block(s.Stmts)
		s.Condition = d.expr(s.Condition)
	case *ast.IfStmt:
		s.Condition = d.expr(s.Condition)
		s.Then, s.Else = d.block(s.Then), d.block(s.Else)
	case *ast.NumberForStmt:
		for _, bound := range []*ast.Expr{&s.Init, &s.Limit, &s.Step} {
			if *bound != nil {
				*bound = d.loopBound(d.expr(*bound), s.Line())
			}
		}
		s.Stmts = d.block(s.Stmts)
	case *ast.GenericForStmt:
		d.exprs(s.Exprs)
		s.Stmts = d.block(s.Stmts)
	case *ast.FuncDefStmt:
		s.Func.Stmts = d.function(s.Func.Stmts)
	case *ast.ReturnStmt:
		d.exprs(s.Exprs)
	}
}

func (d *rewriter) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = d.expr(e)
	}
}

// expr returns the replacement of e.
func (d *rewriter) expr(e ast.Expr) ast.Expr {
	if c, ok := e.(*ast.StringConcatOpExpr); ok {
		return d.concat(c)
	}
	if l, ok := e.(*ast.UnaryLenOpExpr); ok {
		l.Expr = d.expr(l.Expr)
		return d.measured(l)
	}
	if v, ok := foldedNumber(e); ok && v == 0 && math.Signbit(v) {
		return negativeZero(e.Line())
	}
	if m, ok := e.(*ast.UnaryMinusOpExpr); ok && d.c.foreign {
		if _, constant := foldedNumber(m); !constant {
			m.Expr = d.negated(d.expr(m.Expr), m.Line())
			return m
		}
	}
	t, ok := e.(*ast.TableExpr)
	if !ok || !d.heavy {
		d.parts(e)
		return e
	}
	w := weighExpr(t)
	if w.constants >= largeTable {
		if c := constantTableOf(t); c != nil {
			return d.call(func(L *lua.LState) int {
				L.Push(c.make(L))
				return 1
			})
		}
	}
	d.parts(t)
	if w = weighExpr(t); w.constants > manyConstants && !w.varargs {
		return d.divideTable(t)
	}
	return t
}

// parts rewrites the parts of e.
func (d *rewriter) parts(e ast.Expr) {
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		if path := FactPath(e); len(path) > 1 {
			e.Object = d.checkedFact(e, path)
			return
		}
		if key, ok := e.Key.(*ast.StringExpr); ok && slices.Contains(versionParts, key.Value) {
			e.Object = d.checkedText(e, key.Value)
			return
		}
	case *ast.FunctionExpr:
		e.Stmts = d.function(e.Stmts)
		return
	}
	syntax.Parts(e, func(part *ast.Expr) { *part = d.expr(*part) })
	if call, ok := e.(*ast.FuncCallExpr); ok {
		call.Args = d.listed(call.Args, call.Line())
	}
}

// divideTable returns an expression that puts a table together field by field:
//
//	(function() local t = {}; t[1] = ...; t.x = ...; return t end)()
//
// in which the assignments are divided in turn.
func (d *rewriter) divideTable(t *ast.TableExpr) ast.Expr {
	at := func(e ast.Expr) ast.Expr { e.SetLine(t.Line()); return e }
	to := func(e ast.Expr, key ast.Expr) ast.Expr {
		e.SetLine(t.Line())
		if syntax.HasNumber(key) {
			e.SetLine(key.Line()) // the key may be nil
		}
		return e
	}
	name := func() ast.Expr { return at(&ast.IdentExpr{Value: tableName}) }
	empty := &ast.TableExpr{}
	at(empty)
	var fields []ast.Stmt
	n := 0
	for i, f := range t.Fields {
		key := f.Key
		if key == nil {
			if call, ok := f.Value.(*ast.FuncCallExpr); ok && !call.AdjustRet && i == len(t.Fields)-1 {
				fields = append(fields, d.rest(n, name(), call))
				break
			}
			n++
			key = at(&ast.NumberExpr{Value: strconv.Itoa(n)})
		}
		s := &ast.AssignStmt{Lhs: []ast.Expr{to(&ast.AttrGetExpr{Object: name(), Key: key}, key)}, Rhs: []ast.Expr{f.Value}}
		s.SetLine(t.Line())
		fields = append(fields, s)
	}
	local := &ast.LocalAssignStmt{Names: []string{tableName}, Exprs: []ast.Expr{empty}}
	local.SetLine(t.Line())
	result := &ast.ReturnStmt{Exprs: []ast.Expr{name()}}
	result.SetLine(t.Line())
	body := append([]ast.Stmt{local}, d.block(fields)...)
	return callExpr(append(body, result))
}

// rest returns the statement that puts all the values of a call behind position
// n of a table.
func (d *rewriter) rest(n int, table ast.Expr, call *ast.FuncCallExpr) ast.Stmt {
	s := &ast.FuncCallStmt{Expr: d.call(func(L *lua.LState) int {
		t := L.CheckTable(1)
		for i := 2; i <= L.GetTop(); i++ {
			t.RawSetInt(n+i-1, L.Get(i))
		}
		return 0
	}, table, call)}
	s.SetLine(hiddenLine)
	return s
}
