package lint

import (
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A variable is a local variable.
type variable struct {
	name   string
	pos    diag.Pos
	used   bool
	silent bool // a parameter or a loop variable, which may stay unused
	fn     bool
	typ    *resource.Type // the type whose constructor the variable is, if known
	use    tableUse
}

func (s *scan) open() { s.scopes = append(s.scopes, nil) }

// close ends a scope and reports its unused variables.
func (s *scan) close() {
	for _, v := range s.scopes[len(s.scopes)-1] {
		s.nils(v)
		if v.used || v.silent || strings.HasPrefix(v.name, "_") {
			continue
		}
		kind := "variable"
		if v.fn {
			kind = "function"
		}
		s.report(Unused, v.pos, "remove it, or call it _"+v.name, "local %s %q is never used", kind, v.name)
	}
	s.scopes = s.scopes[:len(s.scopes)-1]
}

// place returns the place of the next local variable's name. The list has the same order as this
// walk.
func (s *scan) place() diag.Pos {
	if len(s.places) == 0 {
		return diag.Pos{File: s.p.Name}
	}
	pos := s.places[0]
	s.places = s.places[1:]
	return pos
}

// named returns variables of these names. Only declare makes them visible.
func (s *scan) named(names []string, silent bool) []*variable {
	list := make([]*variable, len(names))
	for i, n := range names {
		list[i] = &variable{name: n, pos: s.place(), silent: silent}
	}
	return list
}

// declare makes variables visible.
func (s *scan) declare(list ...*variable) {
	top := len(s.scopes) - 1
	s.scopes[top] = append(s.scopes[top], list...)
}

// lookup returns the variable that a name stands for, or nil for a global.
func (s *scan) lookup(name string) *variable {
	for i := len(s.scopes) - 1; i >= 0; i-- {
		for k := len(s.scopes[i]) - 1; k >= 0; k-- {
			if v := s.scopes[i][k]; v.name == name {
				return v
			}
		}
	}
	return nil
}

// visible returns the names of the local variables, the innermost first.
func (s *scan) visible() []string {
	var names []string
	for i := len(s.scopes) - 1; i >= 0; i-- {
		for k := len(s.scopes[i]) - 1; k >= 0; k-- {
			names = append(names, s.scopes[i][k].name)
		}
	}
	return names
}

// global returns the name of the global that e is, or "".
func (s *scan) global(e ast.Expr) string {
	if id, ok := e.(*ast.IdentExpr); ok && s.lookup(id.Value) == nil {
		return id.Value
	}
	return ""
}
