package luaedit

import (
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// Value returns the value of an expression if it is known without evaluation: nil, bool, int64,
// float64, string, []any and map[string]any.
func Value(e ast.Expr) (any, bool) {
	switch e := e.(type) {
	case *ast.NilExpr:
		return nil, true
	case *ast.TrueExpr:
		return true, true
	case *ast.FalseExpr:
		return false, true
	case *ast.StringExpr:
		return e.Value, true
	case *ast.NumberExpr:
		return number(e.Value)
	case *ast.UnaryMinusOpExpr:
		switch v, _ := Value(e.Expr); v := v.(type) {
		case int64:
			return -v, true
		case float64:
			return -v, true
		}
	case *ast.TableExpr:
		return table(e)
	}
	return nil, false
}

// number returns a number as it is written in Lua.
func number(text string) (any, bool) {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil && (!strings.HasPrefix(text, "0") || len(text) == 1 || strings.HasPrefix(strings.ToLower(text), "0x")) {
		return i, i>>53 == 0 // Lua has no other whole numbers
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, false
	}
	if i := int64(f); float64(i) == f && i>>53 == 0 {
		return i, true
	}
	return f, true
}

// table returns a table of values: a list, or a map with names.
func table(e *ast.TableExpr) (any, bool) {
	list, named := []any{}, make(map[string]any)
	for _, f := range e.Fields {
		v, ok := Value(f.Value)
		if !ok {
			return nil, false
		}
		if f.Key == nil {
			list = append(list, v)
			continue
		}
		key, isText := f.Key.(*ast.StringExpr)
		if !isText {
			return nil, false
		}
		named[key.Value] = v
	}
	switch {
	case len(named) == 0:
		return list, true
	case len(list) == 0:
		return named, true
	}
	return nil, false
}
