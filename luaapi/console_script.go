package luaapi

import (
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// This file converts a typed text into a part of a script.

// AsScript returns a text as a part of a script: the variables in fresh, which the text defines,
// are declared with local.
func AsScript(text string, fresh []string) string {
	t := newTree(nodeBase, text)
	var plain []string
	for _, d := range definitions(t.stmts) {
		if !d.local && slices.Contains(fresh, d.name) && !slices.Contains(plain, d.name) {
			plain = append(plain, d.name)
		}
	}
	if len(plain) == 0 {
		return text
	}
	if at, ok := t.onlyDefinition(plain); ok {
		return text[:at] + "local " + text[at:]
	}
	return "local " + strings.Join(plain, ", ") + "\n" + text
}

// onlyDefinition returns the beginning of the only statement, if that defines exactly these
// names.
func (t *tree) onlyDefinition(names []string) (at int, ok bool) {
	if len(t.stmts) != 1 || len(t.tokens) == 0 || len(definitions(t.stmts)) != len(names) {
		return 0, false
	}
	if s, ok := t.stmts[0].(*ast.AssignStmt); ok && len(s.Lhs) != len(names) {
		return 0, false
	}
	first := t.tokens[0]
	if first.typ != parse.TIdent && first.typ != parse.TFunction {
		return 0, false
	}
	if first.line == 1 {
		return first.col - 1, true
	}
	return 0, false
}

// FreeNames returns the names in a text that are not its own variables.
func FreeNames(text string) []string {
	t := newTree(nodeBase, text)
	var free []string
	var visible scopes
	w := walker{enter: func(n ast.PositionHolder) {
		id, ok := n.(*ast.IdentExpr)
		if ok && !slices.Contains(free, id.Value) && !slices.Contains(slices.Concat(visible...), id.Value) {
			free = append(free, id.Value)
		}
	}}
	visible.follow(&w)
	w.block(t.stmts)
	return free
}

// A Shape classifies a text.
type Shape struct {
	// Call is set if the text is one call. Variable is the variable that gets the value of one
	// call, "" for none.
	Call     bool
	Variable string
	// Returns is set if it ends with a return.
	Returns bool
}

// ShapeOf classifies a text.
func ShapeOf(text string) (s Shape) {
	stmts := newTree(nodeBase, text).stmts
	if len(stmts) == 0 {
		return s
	}
	_, s.Returns = stmts[len(stmts)-1].(*ast.ReturnStmt)
	if len(stmts) > 1 {
		return s
	}
	isCall := func(list []ast.Expr) bool {
		if len(list) != 1 {
			return false
		}
		_, ok := list[0].(*ast.FuncCallExpr)
		return ok
	}
	switch st := stmts[0].(type) {
	case *ast.FuncCallStmt:
		s.Call = true
	case *ast.LocalAssignStmt:
		if len(st.Names) == 1 && isCall(st.Exprs) {
			s.Variable = st.Names[0]
		}
	case *ast.AssignStmt:
		if id, ok := st.Lhs[0].(*ast.IdentExpr); ok && len(st.Lhs) == 1 && isCall(st.Rhs) {
			s.Variable = id.Value
		}
	}
	return s
}
