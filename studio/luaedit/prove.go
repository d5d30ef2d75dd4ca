package luaedit

import (
	"reflect"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// A comparer compares the trees of two texts, except in the places of an edit.
type comparer struct {
	// hole is the expression of the old tree whose replacement has to satisfy accept.
	hole   ast.Expr
	accept func(ast.Expr) bool
	// table is a table of the old tree; fields compares its fields.
	table  *ast.TableExpr
	fields func(c *comparer, old, now []*ast.Field) bool
}

// prove applies a splice, and returns the new script if its statements are the wanted ones.
func (s *Script) prove(sp Splice, want []ast.Stmt, c *comparer) (*Script, Splice, error) {
	sp.Text = splice.WithEndsOf(s.Text, sp.Text)
	text, err := splice.Apply(s.Text, []Splice{sp})
	if err != nil {
		return nil, Splice{}, ErrShape
	}
	out, err := Parse("", text)
	if err != nil {
		return nil, Splice{}, ErrShape
	}
	if !c.statements(want, out.layout.Statements) {
		return nil, Splice{}, ErrShape
	}
	return out, sp, nil
}

func (c *comparer) statements(want, got []ast.Stmt) bool {
	return c.same(reflect.ValueOf(want), reflect.ValueOf(got))
}

// same compares the meaning of two parts of trees, without the line numbers of nodes.
func (c *comparer) same(want, got reflect.Value) bool {
	if want.Kind() != got.Kind() {
		return false
	}
	switch want.Kind() {
	case reflect.Interface, reflect.Pointer:
		return c.samePointer(want, got)
	case reflect.Slice:
		if want.Len() != got.Len() {
			return false
		}
		for i := range want.Len() {
			if !c.same(want.Index(i), got.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		if want.Type() != got.Type() {
			return false
		}
		for i := range want.NumField() {
			if want.Type().Field(i).IsExported() && !c.same(want.Field(i), got.Field(i)) {
				return false
			}
		}
		return true
	}
	return want.Interface() == got.Interface()
}

func (c *comparer) samePointer(want, got reflect.Value) bool {
	if want.IsNil() || got.IsNil() {
		return want.IsNil() == got.IsNil()
	}
	if want.Kind() == reflect.Interface {
		if e, ok := want.Interface().(ast.Expr); ok && c.hole != nil && e == c.hole {
			now, ok := got.Interface().(ast.Expr)
			return ok && c.accept(now)
		}
	}
	if t, ok := want.Interface().(*ast.TableExpr); ok && c.table != nil && t == c.table && want.Kind() == reflect.Pointer {
		now, ok := got.Interface().(*ast.TableExpr)
		return ok && c.fields(c, t.Fields, now.Fields)
	}
	if want.Elem().Type() != got.Elem().Type() {
		return false
	}
	return c.same(want.Elem(), got.Elem())
}

// sameFields compares fields of tables.
func (c *comparer) sameFields(want, got []*ast.Field) bool {
	return c.same(reflect.ValueOf(want), reflect.ValueOf(got))
}

// isValue returns a function that reports whether an expression has a value. For an [Expr] it
// compares the text.
func isValue(v any) func(ast.Expr) bool {
	return func(e ast.Expr) bool {
		if _, isExpr := v.(Expr); isExpr {
			return true
		}
		got, ok := Value(e)
		return ok && sameValue(got, v)
	}
}

// sameValue compares values. An empty table is a list and a map.
func sameValue(a, b any) bool {
	x, isNumber := numberOf(a)
	if y, other := numberOf(b); isNumber || other {
		return isNumber && other && x == y
	}
	switch x := a.(type) {
	case []any:
		if y, ok := b.(map[string]any); ok {
			return len(x) == 0 && len(y) == 0
		}
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if e, ok := y[k]; !ok || !sameValue(x[k], e) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
