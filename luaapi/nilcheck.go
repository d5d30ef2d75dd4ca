package luaapi

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A table in Lua has no nil fields: a misspelled variable leaves a property out without an
// error. So a declaration is compared with its syntax, and a field whose expression is nil
// is reported.

// A nilableField is a field in a written table whose value may be nil, or whose table has such
// fields.
type nilableField struct {
	key     any // a string, or the position as an int from 0
	nilable bool
	inner   []nilableField
	arg     int // index of the argument of a call site
}

// nilableFields returns the fields of a table that may be nil. Names of resources are left out: a
// nil name is an error anyway.
func nilableFields(t *ast.TableExpr, top bool) (out []nilableField) {
	n := 0
	for i, f := range t.Fields {
		w := nilableField{nilable: MayBeNil(f.Value)}
		switch key := f.Key.(type) {
		case nil:
			w.key = n
			n++
			if top || i == len(t.Fields)-1 && manyValues(f.Value) {
				continue
			}
		case *ast.StringExpr:
			w.key = key.Value
		default:
			continue
		}
		if table, ok := f.Value.(*ast.TableExpr); ok {
			w.inner = nilableFields(table, false)
		}
		if w.nilable || w.inner != nil {
			out = append(out, w)
		}
	}
	return out
}

// manyValues reports whether e can have several values.
func manyValues(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return false
}

// MayBeNil reports whether the value of a property can be nil by accident. An expression that
// ends in the word nil, or a call of ccm.optional, is nil on purpose.
func MayBeNil(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr, *ast.AttrGetExpr, *ast.Comma3Expr:
		return true
	case *ast.FuncCallExpr:
		return e.Func == nil || lastName(e) != "optional"
	case *ast.LogicalOpExpr:
		if e.Operator == "and" {
			return MayBeNil(e.Lhs) && excludesNil(e.Rhs) || MayBeNil(e.Rhs)
		}
		return MayBeNil(e.Rhs)
	}
	return false
}

// excludesNil reports whether e does not end in a nil on purpose: the word nil, or ccm.optional.
func excludesNil(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NilExpr:
		return false
	case *ast.FuncCallExpr:
		return MayBeNil(e)
	case *ast.LogicalOpExpr:
		return excludesNil(e.Rhs)
	}
	return true
}

// Show writes an expression as a script would.
func Show(e ast.Expr) string {
	if op, ok := e.(*ast.LogicalOpExpr); ok {
		return Show(op.Lhs) + " " + op.Operator + " " + Show(op.Rhs)
	}
	return object(e)
}

// checkNil reports the written fields of the call at f that are nil in its table.
func (dc *declarer) checkNil(L *lua.LState, f frame, t *resource.Type, props *lua.LTable) {
	if c := dc.source.chunkOf(f.node); c != nil {
		for i := range c.nilable[f.node] {
			w := &c.nilable[f.node][i]
			dc.checkNilField(L, f, t, w, nil, fieldOf(props, w.key))
		}
	}
}

// checkNilField reports a field that is nil, and those in its table.
func (dc *declarer) checkNilField(L *lua.LState, f frame, t *resource.Type, w *nilableField, path schema.Path, v lua.LValue) {
	if v == lua.LNil {
		if w.nilable {
			dc.noteNil(L, f, t, w, append(path, w.key))
		}
		return
	}
	table, ok := v.(*lua.LTable)
	if !ok || w.inner == nil {
		return
	}
	table = dc.Tables.Contents(table)
	for i := range w.inner {
		dc.checkNilField(L, f, t, &w.inner[i], append(path, w.key), fieldOf(table, w.inner[i].key))
	}
}

func fieldOf(t *lua.LTable, key any) lua.LValue {
	if n, ok := key.(int); ok {
		return t.RawGetInt(n + 1)
	}
	return t.RawGetString(key.(string))
}

// noteNil reports a nil property, once for each position in the text.
func (dc *declarer) noteNil(L *lua.LState, f frame, t *resource.Type, w *nilableField, path schema.Path) {
	if dc.nilFields[w] {
		return
	}
	if dc.nilFields == nil {
		dc.nilFields = make(map[*nilableField]bool)
	}
	dc.nilFields[w] = true
	where := locator{source: dc.source, typ: t, node: f.node, file: f.file}
	e := &diag.Error{Pos: where.Locate(path, false)}
	text := ""
	if expr := where.expression(path); expr != nil {
		text = Show(expr)
		x := explainer{mistakeCollector: dc.report, L: L, e: e, node: f.node, tree: dc.source.chunkOf(f.node).tree()}
		x.find()
		x.near(expr)
	}
	e.Err = GivenAsNil(path, text)
	if dc.opts.Strict && e.Hint == "" {
		e.Hint = OptionalHint(text)
	}
	dc.report.warn(L, f, e)
}

// GivenAsNil returns the error that the expression of a property is nil.
func GivenAsNil(path schema.Path, expression string) error {
	if expression == "" {
		return fmt.Errorf("%s is nil", path)
	}
	return fmt.Errorf("%s is nil (%s)", path, expression)
}

// OptionalHint returns the hint to write ccm.optional.
func OptionalHint(expression string) string {
	if expression == "" || strings.Contains(expression, "()") || strings.Contains(expression, "(...)") {
		expression = "..."
	}
	return "if nil is intended, use ccm.optional(" + expression + ")"
}

// lazyNil reports that a function of ccm.lazy returned nil for a property: as a warning or, with
// Strict, as an error.
func (rs *Results) lazyNil(where *locator, key string) error {
	path := schema.Path{key}
	if e := where.expression(path); e != nil && !MayBeNil(e) {
		return nil
	}
	e := &diag.Error{Pos: where.Locate(path, false), Err: GivenAsNil(path, "by its function"), Hint: OptionalHint("")}
	if rs.ev.opts.Strict {
		return e
	}
	if !rs.lazyNils[e.Pos] {
		if rs.lazyNils == nil {
			rs.lazyNils = make(map[diag.Pos]bool)
		}
		rs.lazyNils[e.Pos] = true
		rs.ev.opts.Warn(e.Pos, e.Err.Error())
	}
	return nil
}

// expression returns the expression at path in the table of a call, or nil.
func (p *locator) expression(path schema.Path) ast.Expr {
	c := p.source.chunkOf(p.node)
	if c == nil {
		return nil
	}
	call, ok := c.tree().Node(p.node).(*ast.FuncCallExpr)
	if !ok {
		return nil
	}
	var e ast.Expr = syntax.TableArg(call)
	for _, step := range path {
		table, ok := e.(*ast.TableExpr)
		if !ok || table == nil {
			return nil
		}
		var f *ast.Field
		switch step := step.(type) {
		case int:
			f = syntax.NthField(table, step)
		case string:
			f = syntax.FieldNamed(table, []string{step})
		}
		if f == nil {
			return nil
		}
		e = f.Value
	}
	return e
}
