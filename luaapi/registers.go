package luaapi

import (
	"errors"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// gopher-lua gives each local variable and each intermediate value of a function a register, of
// which a function has 200; Lua has 200 variables and 50 values besides. So
//
//   - the arguments of a long call, and the operands of a long chain of .., are put into a list and
//     taken from it all at once (rewriter.listed);
//   - if the compiler runs out of registers, it compiles the text once more, with the variables
//     beyond the first keptLocals of a function in the fields of hidden tables (spill).

const (
	// keptLocals is how many variables of a function stay in registers.
	keptLocals = 100
	// manyArguments is how many arguments a call has that are put into a list.
	manyArguments = 64
)

// listed returns the arguments of a call in a line, as one call that returns them if they are many.
func (d *rewriter) listed(args []ast.Expr, line int) []ast.Expr {
	if len(args) <= manyArguments {
		return args
	}
	var last []ast.Expr
	if n := len(args) - 1; manyValues(args[n]) {
		args, last = args[:n], args[n:]
	}
	items := &ast.TableExpr{Fields: make([]*ast.Field, len(args))}
	for i, e := range args {
		items.Fields[i] = &ast.Field{Value: single(e)}
	}
	items.SetLine(line)
	count := &ast.NumberExpr{Value: strconv.Itoa(len(args))}
	if d.spread == 0 {
		d.spread = d.addFunction(func(L *lua.LState) int {
			n, list := int(L.Get(1).(lua.LNumber)), L.Get(2).(*lua.LTable)
			top := L.GetTop()
			reserve(L, n+top)
			for i := 1; i <= n; i++ {
				L.Push(list.RawGetInt(i))
			}
			for i := 3; i <= top; i++ {
				L.Push(L.Get(i))
			}
			return n + top - 2
		}) + 1
	}
	call := &ast.FuncCallExpr{Func: d.placeholder(d.spread - 1), Args: append([]ast.Expr{count, items}, last...)}
	call.SetLine(hiddenLine)
	return []ast.Expr{call}
}

// lacksRegisters reports whether the compiler ran out of registers.
func lacksRegisters(err error) bool {
	e, ok := errors.AsType[*lua.CompileError](err)
	return ok && (strings.Contains(e.Message, "too many local variables") || strings.Contains(e.Message, "register overflow"))
}

// A localScope is a part of a text in which local variables live.
type localScope struct {
	around *localScope
	count  int               // registers of the variables of the function that live here
	fields map[string]string // the fields that are variables, by name; "" for a variable in a register
	table  string            // the hidden variable with the fields, or ""
}

// A spiller replaces local variables by fields.
type spiller struct {
	scope *localScope
	names int // number of hidden names
}

// spill returns the statements of a text with the variables beyond the first keptLocals of each
// function replaced by fields of tables:
//
//	local (fields 1) = {}
//	(fields 1)["name 2"] = value
//
// A scope has its own table, made where its first such variable is declared, so that each round of
// a loop has variables of its own.
func spill(stmts []ast.Stmt) []ast.Stmt {
	sp := &spiller{}
	return sp.inside(0, func() []ast.Stmt { return sp.stmts(stmts) })
}

// inside calls f in a new scope of the present function, with some more registers in use.
func (sp *spiller) inside(more int, f func() []ast.Stmt) []ast.Stmt {
	around := sp.scope
	sp.scope = &localScope{around: around, count: more, fields: make(map[string]string)}
	if around != nil {
		sp.scope.count += around.count
	}
	out := f()
	sp.scope = around
	return out
}

func (sp *spiller) block(stmts []ast.Stmt) []ast.Stmt {
	return sp.inside(0, func() []ast.Stmt { return sp.stmts(stmts) })
}

func (sp *spiller) stmts(stmts []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(stmts)+1)
	for _, s := range stmts {
		if local, ok := s.(*ast.LocalAssignStmt); ok {
			out = append(out, sp.local(local)...)
			continue
		}
		sp.stmt(s)
		out = append(out, s)
	}
	return out
}

// keep notes variables that stay in registers.
func (sp *spiller) keep(names ...string) {
	for _, name := range names {
		sp.scope.fields[name] = ""
	}
}

// local returns the statements for a declaration of variables.
func (sp *spiller) local(s *ast.LocalAssignStmt) []ast.Stmt {
	function := false // the variable is known in its value
	if len(s.Names) == 1 && len(s.Exprs) == 1 {
		_, function = s.Exprs[0].(*ast.FunctionExpr)
	}
	if !function {
		sp.exprs(s.Exprs)
	}
	if sp.scope.count+len(s.Names) <= keptLocals {
		sp.scope.count += len(s.Names)
		sp.keep(s.Names...)
		if function {
			sp.exprs(s.Exprs)
		}
		return []ast.Stmt{s}
	}
	var out []ast.Stmt
	if sp.scope.table == "" {
		sp.scope.table = sp.hiddenName("(fields ", ")")
		sp.scope.count++
		table := &ast.LocalAssignStmt{Names: []string{sp.scope.table}, Exprs: []ast.Expr{&ast.TableExpr{}}}
		table.SetLine(s.Line())
		out = append(out, table)
	}
	set := &ast.AssignStmt{Rhs: s.Exprs}
	set.SetLine(s.Line())
	for _, name := range s.Names {
		sp.scope.fields[name] = sp.hiddenName(name+" ", "")
		set.Lhs = append(set.Lhs, spilledField(sp.scope, name, s.Line()))
	}
	if function {
		sp.exprs(s.Exprs)
	}
	return append(out, set)
}

func (sp *spiller) hiddenName(before, after string) string {
	sp.names++
	return before + strconv.Itoa(sp.names) + after
}

// spilledField returns the field that is a variable of a scope.
func spilledField(in *localScope, name string, line int) ast.Expr {
	e := &ast.AttrGetExpr{Object: &ast.IdentExpr{Value: in.table}, Key: &ast.StringExpr{Value: in.fields[name]}}
	for _, e := range []ast.Expr{e.Object, e.Key, e} {
		e.SetLine(line)
		e.SetLastLine(line)
	}
	return e
}

func (sp *spiller) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.DoBlockStmt:
		s.Stmts = sp.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = sp.expr(s.Condition)
		s.Stmts = sp.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Stmts = sp.inside(0, func() []ast.Stmt {
			stmts := sp.stmts(s.Stmts)
			s.Condition = sp.expr(s.Condition)
			return stmts
		})
	case *ast.IfStmt:
		s.Condition = sp.expr(s.Condition)
		s.Then, s.Else = sp.block(s.Then), sp.block(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit = sp.expr(s.Init), sp.expr(s.Limit)
		if s.Step != nil {
			s.Step = sp.expr(s.Step)
		}
		s.Stmts = sp.inside(4, func() []ast.Stmt {
			sp.keep(s.Name)
			return sp.stmts(s.Stmts)
		})
	case *ast.GenericForStmt:
		sp.exprs(s.Exprs)
		s.Stmts = sp.inside(3+len(s.Names), func() []ast.Stmt {
			sp.keep(s.Names...)
			return sp.stmts(s.Stmts)
		})
	case *ast.FuncDefStmt:
		if s.Name.Func != nil {
			s.Name.Func = sp.expr(s.Name.Func)
			sp.function(s.Func)
		} else {
			s.Name.Receiver = sp.expr(s.Name.Receiver)
			sp.function(s.Func, "self")
		}
	case *ast.AssignStmt:
		sp.exprs(s.Lhs)
		sp.exprs(s.Rhs)
	case *ast.FuncCallStmt:
		s.Expr = sp.expr(s.Expr)
	case *ast.ReturnStmt:
		sp.exprs(s.Exprs)
	}
}

// function replaces variables in a function, which may have a hidden parameter.
func (sp *spiller) function(f *ast.FunctionExpr, hidden ...string) {
	parameters := append(hidden, f.ParList.Names...)
	if f.ParList.HasVargs {
		parameters = append(parameters, "arg")
	}
	used := 0
	if sp.scope != nil {
		used = sp.scope.count
	}
	f.Stmts = sp.inside(len(parameters)-used, func() []ast.Stmt { // it has registers of its own
		sp.keep(parameters...)
		return sp.stmts(f.Stmts)
	})
}

func (sp *spiller) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = sp.expr(e)
	}
}

// expr returns the replacement of an expression.
func (sp *spiller) expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.IdentExpr:
		for in := sp.scope; in != nil; in = in.around {
			if field, ok := in.fields[e.Value]; ok {
				if field == "" {
					break
				}
				return spilledField(in, e.Value, e.Line())
			}
		}
	case *ast.FunctionExpr:
		sp.function(e)
	default:
		syntax.Parts(e, func(part *ast.Expr) { *part = sp.expr(*part) })
	}
	return e
}
