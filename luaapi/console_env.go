package luaapi

import (
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// valuesFunction is the global that receives the values of an expression. No script can spell it.
const valuesFunction = "\x00values"

// openEnvironment makes the globals for the texts of a console: those of scripts, and the
// variables of the console. To read an undefined variable is a mistake as in scripts, and so is
// to assign to one inside a function or a block.
func (s *Console) openEnvironment() {
	L := s.in.vm
	globals := L.Env
	s.env = L.CreateTable(0, 16)
	s.env.RawSetString(valuesFunction, L.NewFunction(func(L *lua.LState) int {
		s.values = nil
		for i := 1; i <= L.GetTop(); i++ {
			s.values = append(s.values, L.Get(i))
		}
		return 0
	}))
	mt := L.CreateTable(0, 3)
	mt.RawSetString("__index", globals)
	mt.RawSetString("__newindex", L.NewFunction(func(L *lua.LState) int {
		name, value := keyText(L.Get(2)), L.Get(3)
		switch {
		case s.definable[name]:
			s.add(name)
		case !s.isVariable[name]:
			s.noteAssignment(L, name, value)
			s.undefinedNames = append(s.undefinedNames, name)
		}
		s.env.RawSetString(name, value)
		return 0
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	s.env.Metatable = mt

	// A variable that is nil is in no table, but it is defined.
	strict := globals.Metatable.(*lua.LTable)
	undefined := strict.RawGetString("__index")
	strict.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		if s.isVariable[keyText(L.Get(2))] {
			L.Push(lua.LNil)
			return 1
		}
		t, key := L.Get(1), L.Get(2)
		L.Push(undefined)
		L.Push(t)
		L.Push(key)
		L.Call(2, 1)
		return 1
	}))
}

// noteAssignment records an assignment to an undefined name.
func (s *Console) noteAssignment(L *lua.LState, name string, value lua.LValue) {
	near := diag.Nearest(name, s.names)
	if near == "" || slices.Contains(s.in.globals.names, name) {
		s.in.report.noteGlobal(L, name, value)
		return
	}
	s.in.report.note(L, fmt.Errorf("assignment to undefined global %q", name), fmt.Sprintf("did you mean %q? declare a new variable with local %s", near, name))
}

// allow allows a text to define its variables. Each is defined when it gets its first value.
func (s *Console) allow(stmts []ast.Stmt) {
	s.definable, s.newNames = make(map[string]bool), nil
	for _, d := range definitions(stmts) {
		if d.local || !slices.Contains(s.in.globals.names, d.name) {
			s.definable[d.name] = true
		}
	}
}

// add defines a variable.
func (s *Console) add(name string) {
	if s.isVariable[name] {
		return
	}
	s.isVariable[name] = true
	s.newNames = append(s.newNames, name)
	s.names = append(s.names, name)
	s.in.globals.names = append(s.in.globals.names, name)
}

// undefine removes the variables of a text that failed.
func (s *Console) undefine(names []string) {
	for _, name := range names {
		if s.env.RawGetString(name) != lua.LNil {
			continue
		}
		is := func(x string) bool { return x == name }
		delete(s.isVariable, name)
		s.names = slices.DeleteFunc(s.names, is)
		if i := slices.Index(s.in.globals.names, name); i >= 0 {
			s.in.globals.names = slices.Delete(s.in.globals.names, i, i+1)
		}
	}
}

// A definition is a name that a top-level statement assigns to.
type definition struct {
	name  string
	local bool
}

// definitions returns the definitions in statements, in order.
func definitions(stmts []ast.Stmt) (out []definition) {
	for _, st := range stmts {
		switch st := st.(type) {
		case *ast.LocalAssignStmt:
			for _, name := range st.Names {
				out = append(out, definition{name, true})
			}
		case *ast.AssignStmt:
			for _, e := range st.Lhs {
				if id, ok := e.(*ast.IdentExpr); ok {
					out = append(out, definition{id.Value, false})
				}
			}
		case *ast.FuncDefStmt:
			if id, ok := st.Name.Func.(*ast.IdentExpr); ok {
				out = append(out, definition{id.Value, false})
			}
		}
	}
	return out
}

// share rewrites the statements of a text so that later texts see its local variables and its
// values arrive: top-level locals become variables of the console, and a final return becomes a
// call.
//
// It becomes a call because gopher-lua compiles return f() as a jump, and the place of the call
// would be lost.
func share(stmts []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(stmts)+1)
	for _, st := range stmts {
		switch st := st.(type) {
		case *ast.LocalAssignStmt:
			assign := &ast.AssignStmt{Rhs: st.Exprs}
			for _, name := range st.Names {
				id := &ast.IdentExpr{Value: name}
				id.SetLine(st.Line())
				assign.Lhs = append(assign.Lhs, id)
			}
			if len(st.Exprs) == 0 {
				none := &ast.NilExpr{}
				none.SetLine(st.Line())
				assign.Rhs = []ast.Expr{none}
			}
			assign.SetLine(st.Line())
			assign.SetLastLine(st.LastLine())
			out = append(out, assign)
		case *ast.ReturnStmt:
			take := &ast.IdentExpr{Value: valuesFunction}
			take.SetLine(st.Line())
			call := &ast.FuncCallExpr{Func: take, Args: st.Exprs}
			call.SetLine(st.Line())
			stmt := &ast.FuncCallStmt{Expr: call}
			stmt.SetLine(st.Line())
			out = append(out, stmt)
		default:
			out = append(out, st)
		}
	}
	return out
}
