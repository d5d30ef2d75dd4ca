package syntax

import "github.com/yuin/gopher-lua/ast"

// A Walker visits a syntax tree in the order of the source text, so that nodes can be
// matched with tokens.
type Walker struct {
	// Enter and Leave are called before and after the parts of a node.
	Enter, Leave func(ast.PositionHolder)
	// Word is called for a name without a node in the tree, such as a local variable in
	// its declaration. It may be nil.
	Word func(name string, local bool)
	// Scope is called with true before and with false after a part of the text
	// in which local names live. It may be nil.
	Scope func(open bool)
	// Stopped ends the walk.
	Stopped bool
}

// Scopes are the local variables that are visible where a walk is, the innermost last.
type Scopes [][]string

// Follow makes a walk update s.
func (s *Scopes) Follow(w *Walker) {
	w.Word = func(name string, local bool) {
		if local {
			last := len(*s) - 1
			(*s)[last] = append((*s)[last], name)
		}
	}
	w.Scope = func(open bool) {
		if open {
			*s = append(*s, nil)
			return
		}
		*s = (*s)[:len(*s)-1]
	}
}

func (w *Walker) name(name string, local bool) {
	if w.Word != nil {
		w.Word(name, local)
	}
}

func (w *Walker) names(names []string) {
	for _, n := range names {
		w.name(n, true)
	}
}

// Block visits statements as a block, which has a scope of its own.
func (w *Walker) Block(stmts []ast.Stmt) {
	w.open(true)
	w.Stmts(stmts)
	w.open(false)
}

func (w *Walker) open(open bool) {
	if w.Scope != nil {
		w.Scope(open)
	}
}

// Stmts visits statements.
func (w *Walker) Stmts(stmts []ast.Stmt) {
	for _, s := range stmts {
		if w.Stopped {
			return
		}
		w.Enter(s)
		w.stmt(s)
		if w.Leave != nil {
			w.Leave(s)
		}
	}
}

func (w *Walker) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		w.exprs(s.Lhs)
		w.exprs(s.Rhs)
	case *ast.LocalAssignStmt:
		w.names(s.Names)
		w.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		w.Expr(s.Expr)
	case *ast.DoBlockStmt:
		w.Block(s.Stmts)
	case *ast.WhileStmt:
		w.Expr(s.Condition)
		w.Block(s.Stmts)
	case *ast.RepeatStmt:
		w.open(true)
		w.Stmts(s.Stmts)
		w.Expr(s.Condition)
		w.open(false)
	case *ast.IfStmt:
		w.Expr(s.Condition)
		w.Block(s.Then)
		w.Block(s.Else)
	case *ast.NumberForStmt:
		w.open(true)
		w.name(s.Name, true)
		w.Expr(s.Init)
		w.Expr(s.Limit)
		if s.Step != nil {
			w.Expr(s.Step)
		}
		w.Stmts(s.Stmts)
		w.open(false)
	case *ast.GenericForStmt:
		w.open(true)
		w.names(s.Names)
		w.exprs(s.Exprs)
		w.Stmts(s.Stmts)
		w.open(false)
	case *ast.FuncDefStmt:
		if s.Name.Func != nil {
			w.Expr(s.Name.Func)
		} else {
			w.Expr(s.Name.Receiver)
			w.name(s.Name.Method, false)
		}
		w.Expr(s.Func)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs)
	case *ast.LabelStmt:
		w.name(s.Name, false)
	case *ast.GotoStmt:
		w.name(s.Label, false)
	}
}

func (w *Walker) exprs(list []ast.Expr) {
	for _, e := range list {
		w.Expr(e)
	}
}

// Expr visits an expression.
func (w *Walker) Expr(e ast.Expr) {
	if w.Stopped {
		return
	}
	w.Enter(e)
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		if e.Func != nil {
			w.Expr(e.Func)
		} else {
			w.Expr(e.Receiver)
			w.name(e.Method, false)
		}
		w.exprs(e.Args)
	case *ast.FunctionExpr:
		w.open(true)
		w.names(e.ParList.Names)
		if e.ParList.HasVargs {
			w.name("...", false)
		}
		w.Stmts(e.Stmts)
		w.open(false)
	default:
		Parts(e, func(part *ast.Expr) { w.Expr(*part) })
	}
	if w.Leave != nil {
		w.Leave(e)
	}
}

// Parts calls visit for each part of an expression, in the order of the text. A function has no parts. Visit may
// replace a part.
func Parts(e ast.Expr, visit func(part *ast.Expr)) {
	both := func(a, b *ast.Expr) {
		visit(a)
		visit(b)
	}
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		both(&e.Object, &e.Key)
	case *ast.TableExpr:
		for _, field := range e.Fields {
			if field.Key != nil {
				visit(&field.Key)
			}
			visit(&field.Value)
		}
	case *ast.FuncCallExpr:
		if e.Func != nil {
			visit(&e.Func)
		} else {
			visit(&e.Receiver)
		}
		for i := range e.Args {
			visit(&e.Args[i])
		}
	case *ast.LogicalOpExpr:
		both(&e.Lhs, &e.Rhs)
	case *ast.RelationalOpExpr:
		both(&e.Lhs, &e.Rhs)
	case *ast.StringConcatOpExpr:
		both(&e.Lhs, &e.Rhs)
	case *ast.ArithmeticOpExpr:
		both(&e.Lhs, &e.Rhs)
	case *ast.UnaryMinusOpExpr:
		visit(&e.Expr)
	case *ast.UnaryNotOpExpr:
		visit(&e.Expr)
	case *ast.UnaryLenOpExpr:
		visit(&e.Expr)
	}
}
