package luaapi

import "github.com/yuin/gopher-lua/ast"

// A walker visits a syntax tree in the order of the source text, so that nodes can be
// matched with tokens.
type walker struct {
	// enter and leave are called before and after the parts of a node.
	enter, leave func(ast.PositionHolder)
	// word is called for a name that is no node of the tree, such as a local variable in
	// its declaration. It may be nil.
	word func(name string, local bool)
	// scope is called with true before and with false after a part of the text
	// in which local names live. It may be nil.
	scope func(open bool)
	// stopped ends the walk.
	stopped bool
}

// scopes are the local variables that are visible where a walk is, the innermost last.
type scopes [][]string

// follow makes a walk update s.
func (s *scopes) follow(w *walker) {
	w.word = func(name string, local bool) {
		if local {
			last := len(*s) - 1
			(*s)[last] = append((*s)[last], name)
		}
	}
	w.scope = func(open bool) {
		if open {
			*s = append(*s, nil)
			return
		}
		*s = (*s)[:len(*s)-1]
	}
}

func (w *walker) name(name string, local bool) {
	if w.word != nil {
		w.word(name, local)
	}
}

func (w *walker) names(names []string) {
	for _, n := range names {
		w.name(n, true)
	}
}

func (w *walker) block(stmts []ast.Stmt) {
	w.open(true)
	w.stmts(stmts)
	w.open(false)
}

func (w *walker) open(open bool) {
	if w.scope != nil {
		w.scope(open)
	}
}

func (w *walker) stmts(stmts []ast.Stmt) {
	for _, s := range stmts {
		if w.stopped {
			return
		}
		w.enter(s)
		w.stmt(s)
		if w.leave != nil {
			w.leave(s)
		}
	}
}

func (w *walker) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		w.exprs(s.Lhs)
		w.exprs(s.Rhs)
	case *ast.LocalAssignStmt:
		w.names(s.Names)
		w.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		w.expr(s.Expr)
	case *ast.DoBlockStmt:
		w.block(s.Stmts)
	case *ast.WhileStmt:
		w.expr(s.Condition)
		w.block(s.Stmts)
	case *ast.RepeatStmt:
		w.open(true)
		w.stmts(s.Stmts)
		w.expr(s.Condition)
		w.open(false)
	case *ast.IfStmt:
		w.expr(s.Condition)
		w.block(s.Then)
		w.block(s.Else)
	case *ast.NumberForStmt:
		w.open(true)
		w.name(s.Name, true)
		w.expr(s.Init)
		w.expr(s.Limit)
		if s.Step != nil {
			w.expr(s.Step)
		}
		w.stmts(s.Stmts)
		w.open(false)
	case *ast.GenericForStmt:
		w.open(true)
		w.names(s.Names)
		w.exprs(s.Exprs)
		w.stmts(s.Stmts)
		w.open(false)
	case *ast.FuncDefStmt:
		if s.Name.Func != nil {
			w.expr(s.Name.Func)
		} else {
			w.expr(s.Name.Receiver)
			w.name(s.Name.Method, false)
		}
		w.expr(s.Func)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs)
	case *ast.LabelStmt:
		w.name(s.Name, false)
	case *ast.GotoStmt:
		w.name(s.Label, false)
	}
}

func (w *walker) exprs(list []ast.Expr) {
	for _, e := range list {
		w.expr(e)
	}
}

func (w *walker) expr(e ast.Expr) {
	if w.stopped {
		return
	}
	w.enter(e)
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		w.expr(e.Object)
		w.expr(e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			if f.Key != nil {
				w.expr(f.Key)
			}
			w.expr(f.Value)
		}
	case *ast.FuncCallExpr:
		if e.Func != nil {
			w.expr(e.Func)
		} else {
			w.expr(e.Receiver)
			w.name(e.Method, false)
		}
		w.exprs(e.Args)
	case *ast.LogicalOpExpr:
		w.expr(e.Lhs)
		w.expr(e.Rhs)
	case *ast.RelationalOpExpr:
		w.expr(e.Lhs)
		w.expr(e.Rhs)
	case *ast.StringConcatOpExpr:
		w.expr(e.Lhs)
		w.expr(e.Rhs)
	case *ast.ArithmeticOpExpr:
		w.expr(e.Lhs)
		w.expr(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		w.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		w.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		w.expr(e.Expr)
	case *ast.FunctionExpr:
		w.open(true)
		w.names(e.ParList.Names)
		if e.ParList.HasVargs {
			w.name("...", false)
		}
		w.stmts(e.Stmts)
		w.open(false)
	}
	if w.leave != nil {
		w.leave(e)
	}
}
