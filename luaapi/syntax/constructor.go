package syntax

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// ConstructorPos returns the place of the word that names the type.
func ConstructorPos(t *Tree, call *ast.FuncCallExpr) diag.Pos {
	for {
		inner, ok := call.Func.(*ast.FuncCallExpr)
		if !ok {
			break
		}
		call = inner
	}
	if call.Func == nil {
		return t.PosOf(call.Receiver)
	}
	return t.PosOf(call.Func)
}

// TableArg returns the last argument that is written as a table, or nil.
func TableArg(call *ast.FuncCallExpr) *ast.TableExpr {
	for i := len(call.Args) - 1; i >= 0; i-- {
		if t, ok := call.Args[i].(*ast.TableExpr); ok {
			return t
		}
	}
	return nil
}

// FieldNamed returns the field of that name; the last one, as in Lua.
func FieldNamed(t *ast.TableExpr, names []string) *ast.Field {
	if t == nil {
		return nil
	}
	var found *ast.Field
	for _, f := range t.Fields {
		key := KeyOf(f)
		for _, n := range names {
			if key == n {
				found = f
			}
		}
	}
	return found
}

// KeyOf returns the key of a field if it is written down, or "".
func KeyOf(f *ast.Field) string {
	switch k := f.Key.(type) {
	case *ast.StringExpr:
		return k.Value
	case *ast.NumberExpr:
		return k.Value
	case *ast.TrueExpr:
		return "true"
	case *ast.FalseExpr:
		return "false"
	}
	return ""
}

// InValue returns the position of the value at path below a field, or of the innermost value
// around it that is written.
func InValue(t *Tree, f *ast.Field, path schema.Path, key bool) diag.Pos {
	for _, step := range path {
		table, ok := f.Value.(*ast.TableExpr)
		if !ok {
			break
		}
		var next *ast.Field
		switch step := step.(type) {
		case int:
			next = NthField(table, step)
		case string:
			next = FieldNamed(table, []string{step})
		}
		if next == nil {
			break
		}
		f = next
	}
	if key && f.Key != nil {
		return t.PosOf(f.Key)
	}
	return t.PosOf(f.Value)
}

// NthField returns the field without a key number n, from 0, or nil.
func NthField(t *ast.TableExpr, n int) *ast.Field {
	for _, f := range t.Fields {
		if f.Key != nil {
			continue
		}
		if n == 0 {
			return f
		}
		n--
	}
	return nil
}

// NamePos returns the place of name number nth of a call: in its table, in the argument before
// it, or in the argument of the call before it.
func NamePos(t *Tree, call *ast.FuncCallExpr, props *ast.TableExpr, nth int) diag.Pos {
	if props != nil {
		if f := NthField(props, nth); f != nil {
			return t.PosOf(f.Value)
		}
	}
	if inner, ok := call.Func.(*ast.FuncCallExpr); ok {
		call = inner
	}
	if len(call.Args) == 0 {
		return diag.Pos{}
	}
	if list, ok := call.Args[0].(*ast.TableExpr); ok {
		if f := NthField(list, nth); f != nil {
			return t.PosOf(f.Value)
		}
	}
	return t.PosOf(call.Args[0])
}
