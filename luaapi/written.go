package luaapi

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A field of a table that is nil is not there: a misspelt variable leaves a
// property out, and nothing complains. So a declaration is held against what is
// written in the text: what has an expression and no value is said.

// A writtenField is a field of a table in the text that may come out as nil, or
// holds such fields.
type writtenField struct {
	key     any // a string, or the position as an int from 0
	nilable bool
	inner   []writtenField
	arg     int // which value a call site passes for it
}

// writtenFields returns the fields of a table that may come out as nil. The
// names of a resource are not among them: a name that is nil is an error anyway.
func writtenFields(t *ast.TableExpr, top bool) (out []writtenField) {
	n := 0
	for i, f := range t.Fields {
		w := writtenField{nilable: mayBeNil(f.Value)}
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
			w.inner = writtenFields(table, false)
		}
		if w.nilable || w.inner != nil {
			out = append(out, w)
		}
	}
	return out
}

// manyValues reports whether e gives as many values as it likes.
func manyValues(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return false
}

// mayBeNil reports whether e can be nil without saying so. What ends in the word
// nil says so, and so does a call of ccm.optional.
func mayBeNil(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IdentExpr, *ast.AttrGetExpr, *ast.Comma3Expr:
		return true
	case *ast.FuncCallExpr:
		return e.Func == nil || lastName(e) != "optional"
	case *ast.LogicalOpExpr:
		if e.Operator == "and" {
			return mayBeNil(e.Lhs) && saysNoNil(e.Rhs) || mayBeNil(e.Rhs)
		}
		return mayBeNil(e.Rhs)
	}
	return false
}

// saysNoNil reports whether e does not allow for nil in words.
func saysNoNil(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NilExpr:
		return false
	case *ast.FuncCallExpr:
		return mayBeNil(e)
	case *ast.LogicalOpExpr:
		return saysNoNil(e.Rhs)
	}
	return true
}

// MayBeNil reports whether the value of a property can be nil without saying so.
func MayBeNil(e ast.Expr) bool { return mayBeNil(e) }

// Show writes an expression as a script would.
func Show(e ast.Expr) string {
	if op, ok := e.(*ast.LogicalOpExpr); ok {
		return Show(op.Lhs) + " " + op.Operator + " " + Show(op.Rhs)
	}
	return object(e)
}

// A nilChecker finds the properties that are written in the text and have no value.
type nilChecker struct {
	in           *Interp
	reported     map[*writtenField]bool
	reportedLazy map[diag.Pos]bool
}

// checkWritten says which fields in the text of the call at f have no value in
// its table.
func (nc *nilChecker) checkWritten(L *lua.LState, f frame, t *resource.Type, props *lua.LTable) {
	if c := nc.in.source.chunkOf(f.node); c != nil {
		for i := range c.written[f.node] {
			w := &c.written[f.node][i]
			nc.checkField(L, f, t, w, nil, fieldOf(props, w.key))
		}
	}
}

// checkField says that a field has no value, or that one inside of it has none.
func (nc *nilChecker) checkField(L *lua.LState, f frame, t *resource.Type, w *writtenField, path schema.Path, v lua.LValue) {
	if v == lua.LNil {
		if w.nilable {
			nc.noteNil(L, f, t, w, append(path, w.key))
		}
		return
	}
	table, ok := v.(*lua.LTable)
	if !ok || w.inner == nil {
		return
	}
	table = nc.in.Tables.Contents(table)
	for i := range w.inner {
		nc.checkField(L, f, t, &w.inner[i], append(path, w.key), fieldOf(table, w.inner[i].key))
	}
}

func fieldOf(t *lua.LTable, key any) lua.LValue {
	if n, ok := key.(int); ok {
		return t.RawGetInt(n + 1)
	}
	return t.RawGetString(key.(string))
}

// noteNil says, once for each place in the text, that a property was written and
// came out as nil.
func (nc *nilChecker) noteNil(L *lua.LState, f frame, t *resource.Type, w *writtenField, path schema.Path) {
	if nc.reported[w] {
		return
	}
	if nc.reported == nil {
		nc.reported = make(map[*writtenField]bool)
	}
	nc.reported[w] = true
	where := place{in: nc.in, typ: t, node: f.node, file: f.file}
	e := &diag.Error{Pos: where.Locate(path, false)}
	text := ""
	if expr := where.expression(path); expr != nil {
		text = Show(expr)
		x := explainer{Interp: nc.in, L: L, e: e, node: f.node, tree: nc.in.source.chunkOf(f.node).tree()}
		x.find()
		x.near(expr)
	}
	e.Err = GivenAsNil(path, text)
	if nc.in.opts.Strict && e.Hint == "" {
		e.Hint = OptionalHint(text)
	}
	nc.in.report.doubt(L, f, e)
}

// GivenAsNil says that a property was written and has no value.
func GivenAsNil(path schema.Path, expression string) error {
	if expression == "" {
		return fmt.Errorf("%s was given as nil", path)
	}
	return fmt.Errorf("%s was given as nil (%s)", path, expression)
}

// OptionalHint says how to write that a property may be left out.
func OptionalHint(expression string) string {
	if expression == "" || strings.Contains(expression, "()") || strings.Contains(expression, "(...)") {
		expression = "..."
	}
	return "if it may be left out write ccm.optional(" + expression + ")"
}

// doubtLazy says that a function of ccm.lazy returned nil for a property. If the
// script is read strictly that is the error.
func (nc *nilChecker) doubtLazy(where *place, key string) error {
	path := schema.Path{key}
	if e := where.expression(path); e != nil && !mayBeNil(e) {
		return nil
	}
	e := &diag.Error{Pos: where.Locate(path, false), Err: GivenAsNil(path, "by its function"), Hint: OptionalHint("")}
	if nc.in.opts.Strict {
		return e
	}
	if !nc.reportedLazy[e.Pos] {
		if nc.reportedLazy == nil {
			nc.reportedLazy = make(map[diag.Pos]bool)
		}
		nc.reportedLazy[e.Pos] = true
		nc.in.opts.Warn(e.Pos, e.Err.Error())
	}
	return nil
}

// expression returns what is written at path in the table of a call, or nil.
func (p *place) expression(path schema.Path) ast.Expr {
	c := p.in.source.chunkOf(p.node)
	if c == nil {
		return nil
	}
	call, ok := c.tree().node(p.node).(*ast.FuncCallExpr)
	if !ok {
		return nil
	}
	var e ast.Expr = tableArg(call)
	for _, step := range path {
		table, ok := e.(*ast.TableExpr)
		if !ok || table == nil {
			return nil
		}
		var f *ast.Field
		switch step := step.(type) {
		case int:
			f = nthField(table, step)
		case string:
			f = fieldNamed(table, []string{step})
		}
		if f == nil {
			return nil
		}
		e = f.Value
	}
	return e
}
