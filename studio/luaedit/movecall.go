package luaedit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
)

// Move moves call number n, with the comments right above it, before call number to, or behind all
// if to is the number of calls. It refuses to move it before a variable that it uses, or behind a
// use of its own.
func (s *Script) Move(n, to int) (*Script, Splice, error) {
	from, err := s.statementOf(n)
	if err != nil {
		return nil, Splice{}, err
	}
	before := len(s.layout.Statements)
	if to < len(s.Calls) {
		if before, err = s.statementOf(to); err != nil {
			return nil, Splice{}, err
		}
	} else if _, isReturn := s.layout.Statements[before-1].(*ast.ReturnStmt); isReturn {
		before--
	}
	if err := s.mayPass(from, before); err != nil {
		return nil, Splice{}, err
	}
	sp, ok := s.moving(from, before)
	if !ok {
		return nil, Splice{}, ErrShape
	}
	st := s.layout.Statements[from]
	want := slices.Delete(slices.Clone(s.layout.Statements), from, from+1)
	if before > from {
		before--
	}
	return s.prove(sp, slices.Insert(want, before, st), &comparer{})
}

// mayPass checks that a statement may be moved: variables stay before their uses.
func (s *Script) mayPass(from, before int) error {
	st := s.layout.Statements[from]
	passed := s.layout.Statements[min(from, before):max(from, before)]
	for _, other := range passed {
		if other == st {
			continue
		}
		mine, theirs := declared(st), declared(other)
		if mine["ccm"] || theirs["ccm"] { // ccm.defaults applies to all later resources
			return fmt.Errorf("%w: %w", ErrShape, diag.AppliesOnly("ccm.defaults", "the declarations after it"))
		}
		name := common(mine, used(other))
		if name == "" {
			name = common(theirs, used(st))
		}
		if name != "" {
			return fmt.Errorf("%w: the meaning of %s changes in between", ErrShape, name)
		}
	}
	return nil
}

// moving returns the splice that moves the lines of a statement before another one.
func (s *Script) moving(from, before int) (Splice, bool) {
	a1, a2, ok := s.lines(from)
	if !ok {
		return Splice{}, false
	}
	if strings.HasPrefix(s.Text, "\ufeff") && (a1 == 0 || before == 0) {
		return Splice{}, false
	}
	at := len(s.Text)
	if before < len(s.layout.Statements) {
		b1, _, ok := s.lines(before)
		if !ok {
			return Splice{}, false
		}
		at = b1
	}
	lines, between := s.Text[a1:a2], ""
	switch {
	case at >= a2:
		between = s.Text[a2:at]
		if between != "" && !strings.HasSuffix(between, "\n") { // the text has no line end at its end
			between, lines = between+"\n", strings.TrimSuffix(lines, "\n")
		}
		return Splice{From: a1, To: at, Text: between + lines}, true
	case at <= a1:
		between = s.Text[at:a1]
		if !strings.HasSuffix(lines, "\n") {
			lines, between = lines+"\n", strings.TrimSuffix(between, "\n")
		}
		return Splice{From: at, To: a2, Text: lines + between}, true
	}
	return Splice{}, false
}

// declared returns the names to which a statement gives a value or another meaning.
func declared(st ast.Stmt) map[string]bool {
	out := make(map[string]bool)
	if local, isLocal := st.(*ast.LocalAssignStmt); isLocal {
		for _, name := range local.Names {
			out[name] = true
		}
	}
	syntax.Walk([]ast.Stmt{st}, func(n ast.PositionHolder) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				names(e, out)
			}
		case *ast.FuncDefStmt:
			if n.Name.Func != nil {
				names(n.Name.Func, out)
			} else {
				names(n.Name.Receiver, out)
			}
		case *ast.FuncCallExpr: // data.load "site.yaml", file.defaults { }
			var c Call
			if c.setFunc(n) && (c.Func == "load" || c.Func == "defaults") && c.Module != "" {
				out[c.Module] = true
			}
		}
	}, nil)
	return out
}

// used returns the names in a statement.
func used(st ast.Stmt) map[string]bool {
	out := make(map[string]bool)
	syntax.Walk([]ast.Stmt{st}, func(n ast.PositionHolder) {
		if id, ok := n.(*ast.IdentExpr); ok {
			out[id.Value] = true
		}
	}, nil)
	return out
}

// names adds the names in an expression.
func names(e ast.Expr, out map[string]bool) {
	for name := range used(&ast.FuncCallStmt{Expr: e}) {
		out[name] = true
	}
}

// common returns a name that is in both, "" if there is none.
func common(a, b map[string]bool) string {
	for name := range a {
		if b[name] {
			return name
		}
	}
	return ""
}
