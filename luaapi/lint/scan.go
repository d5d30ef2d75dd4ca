package lint

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A scan is one walk over a script, in the order of its text. It keeps the visible local variables
// of the present place.
type scan struct {
	l *Linter
	p *syntax.Script

	globals  []string
	fields   map[string][]string // of the globals whose names are known
	facts    []string
	assigned map[string]bool // globals that were assigned to, which is reported once
	tested   map[string]bool // absent globals of Lua that were read as a value
	operand  ast.Expr        // the last expression that is called or indexed
	value    ast.Expr        // the last value of a field in a table
	spec     bool            // the script is a spec
	defaults map[*resource.Type][]string
	curried  map[*ast.FuncCallExpr]bool // whose result is called at once

	places   []diag.Pos // of the local variables of the statement that are still to come
	scopes   [][]*variable
	findings []Finding
}

// script reads the whole script.
func (s *scan) script() {
	s.open()
	for st := range s.p.Statements() {
		s.places = s.p.Locals()
		s.stmt(st)
	}
	s.close()
}

func (s *scan) block(stmts []ast.Stmt) {
	s.open()
	s.stmts(stmts)
	s.close()
}

func (s *scan) stmts(stmts []ast.Stmt) {
	for _, st := range stmts {
		s.stmt(st)
	}
}

func (s *scan) stmt(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		for _, e := range st.Lhs {
			s.target(e, false)
		}
		s.exprs(st.Rhs)
	case *ast.LocalAssignStmt:
		s.local(st)
	case *ast.FuncCallStmt:
		s.expr(st.Expr)
	case *ast.DoBlockStmt:
		s.block(st.Stmts)
	case *ast.WhileStmt:
		s.expr(st.Condition)
		s.block(st.Stmts)
	case *ast.RepeatStmt:
		s.open()
		s.stmts(st.Stmts)
		s.expr(st.Condition) // sees the variables of the body
		s.close()
	case *ast.IfStmt:
		s.expr(st.Condition)
		s.block(st.Then)
		s.block(st.Else)
	case *ast.NumberForStmt:
		v := s.named([]string{st.Name}, true)
		s.expr(st.Init)
		s.expr(st.Limit)
		if st.Step != nil {
			s.expr(st.Step)
		}
		s.loop(v, st.Stmts)
	case *ast.GenericForStmt:
		v := s.named(st.Names, true)
		s.exprs(st.Exprs)
		s.loop(v, st.Stmts)
	case *ast.FuncDefStmt:
		s.define(st)
	case *ast.ReturnStmt:
		s.exprs(st.Exprs)
	}
}

func (s *scan) loop(v []*variable, body []ast.Stmt) {
	s.open()
	s.declare(v...)
	s.stmts(body)
	s.close()
}

func (s *scan) local(st *ast.LocalAssignStmt) {
	v := s.named(st.Names, false)
	// A function that is the only value can use its own name.
	if len(st.Exprs) == 1 && len(v) == 1 {
		if fn, ok := st.Exprs[0].(*ast.FunctionExpr); ok {
			v[0].fn = true
			s.declare(v...)
			s.function(fn)
			return
		}
	}
	s.exprs(st.Exprs)
	for i, e := range st.Exprs {
		if i < len(v) {
			v[i].typ = s.required(e)
		}
	}
	for i := range v {
		v[i].learn(st, i)
	}
	s.declare(v...)
}

// required returns the type of a shipped module, std.line or require "std.line", or nil.
func (s *scan) required(e ast.Expr) *resource.Type {
	if get, ok := e.(*ast.AttrGetExpr); ok && s.global(get.Object) == "std" {
		if key, ok := get.Key.(*ast.StringExpr); ok {
			return s.l.moduleType("std." + key.Value)
		}
	}
	call, ok := e.(*ast.FuncCallExpr)
	if !ok || s.global(call.Func) != "require" || len(call.Args) != 1 {
		return nil
	}
	name, ok := call.Args[0].(*ast.StringExpr)
	if !ok {
		return nil
	}
	return s.l.moduleType(name.Value)
}

// moduleType returns the type that a module returns, or nil.
func (l *Linter) moduleType(name string) *resource.Type {
	if l.ModuleType == nil {
		return nil
	}
	return l.ModuleType(name)
}

// typeOf returns the type whose constructor an expression is, or nil.
func (s *scan) typeOf(e ast.Expr) *resource.Type {
	id, ok := e.(*ast.IdentExpr)
	if !ok {
		return s.required(e)
	}
	if v := s.lookup(id.Value); v != nil {
		return v.typ
	}
	return s.l.Registry.Type(id.Value)
}

func (s *scan) define(st *ast.FuncDefStmt) {
	if st.Name.Func != nil {
		s.target(st.Name.Func, true)
		s.function(st.Func)
		return
	}
	s.expr(st.Name.Receiver)
	s.function(st.Func, &variable{name: "self", silent: true})
}

// function scans a function. Further are parameters that are not written in the script, such as
// self.
func (s *scan) function(fn *ast.FunctionExpr, further ...*variable) {
	s.open()
	s.declare(further...)
	s.declare(s.named(fn.ParList.Names, true)...)
	s.stmts(fn.Stmts)
	s.close()
}

// target scans the target of an assignment.
func (s *scan) target(e ast.Expr, function bool) {
	id, ok := e.(*ast.IdentExpr)
	if ok {
		if v := s.lookup(id.Value); v != nil {
			v.typ = nil // the variable may have another value from here on
			v.use.assigned = true
		}
	}
	if !ok {
		if get, ok := e.(*ast.AttrGetExpr); ok && !s.setField(get) {
			s.expr(get.Object)
			s.expr(get.Key)
		}
		return
	}
	if s.lookup(id.Value) != nil || s.assigned[id.Value] {
		return
	}
	s.assignGlobal(id, function)
}

func (s *scan) exprs(list []ast.Expr) {
	for _, e := range list {
		s.expr(e)
	}
}

func (s *scan) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		s.read(e)
	case *ast.AttrGetExpr:
		if s.readField(e) {
			return
		}
		s.operand = e.Object
		s.expr(e.Object)
		s.expr(e.Key)
		s.field(e)
	case *ast.FuncCallExpr:
		s.call(e)
	case *ast.FunctionExpr:
		s.function(e)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			if f.Key != nil {
				s.expr(f.Key)
				s.value = f.Value
			}
			s.expr(f.Value)
		}
	default:
		syntax.Parts(e, func(part *ast.Expr) { s.expr(*part) })
	}
}

func (s *scan) call(e *ast.FuncCallExpr) {
	if e.Func != nil {
		if inner, ok := e.Func.(*ast.FuncCallExpr); ok {
			s.curried[inner] = true
		}
		s.operand = e.Func
		s.expr(e.Func)
	} else {
		s.operand = e.Receiver
		s.expr(e.Receiver)
	}
	s.exprs(e.Args)
	s.declaration(e)
	s.template(e)
}
