package luaapi

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A locator is the schema.Locator of a declaration. It keeps only the node of the call, and
// finds the positions of properties in the syntax tree when a message needs them.
type locator struct {
	in       *Interp
	typ      *resource.Type
	node     int // the call
	file     string
	nth      int // index of the name among several
	defaults *defaults
}

var _ schema.Locator = (*locator)(nil)

// Locate implements schema.Locator.
func (p *locator) Locate(path schema.Path, key bool) diag.Pos {
	pos := p.locate(path, key)
	if pos.Line == 0 {
		return p.in.source.lineOf(p.node, p.file)
	}
	if pos.File == "" {
		pos.File = p.file
	}
	return pos
}

func (p *locator) locate(path schema.Path, key bool) diag.Pos {
	c := p.in.source.chunkOf(p.node)
	if c == nil {
		return diag.Pos{}
	}
	t := c.tree()
	call, ok := t.node(p.node).(*ast.FuncCallExpr)
	if !ok {
		return t.nodePos(p.node)
	}
	if len(path) == 0 {
		return constructorPos(t, call)
	}
	name, _ := path[0].(string)
	names := p.spellings(name)
	props := tableArg(call)
	for _, spelled := range [][]string{{name}, names} {
		if f := fieldNamed(props, spelled); f != nil {
			return inValue(t, f, path[1:], key)
		}
	}
	if names[0] == p.typ.Schema().Name().Name {
		if pos := namePos(t, call, props, p.nth); pos.Line > 0 {
			return pos
		}
	}
	if p.defaults != nil {
		for _, d := range p.defaults.list {
			if d.names[0] == names[0] {
				return d.locate.Locate(path, key)
			}
		}
	}
	return constructorPos(t, call)
}

// spellings returns all names of a property, the main one first.
func (p *locator) spellings(name string) []string {
	for _, s := range p.typ.Properties() {
		if f := s.Field(name); f != nil {
			return append([]string{f.Name}, f.Aliases...)
		}
	}
	return []string{name}
}

// constructorPos returns the place of the word that names the type.
func constructorPos(t *tree, call *ast.FuncCallExpr) diag.Pos {
	for {
		inner, ok := call.Func.(*ast.FuncCallExpr)
		if !ok {
			break
		}
		call = inner
	}
	if call.Func == nil {
		return t.posOf(call.Receiver)
	}
	return t.posOf(call.Func)
}

// tableArg returns the last argument that is written as a table, or nil.
func tableArg(call *ast.FuncCallExpr) *ast.TableExpr {
	for i := len(call.Args) - 1; i >= 0; i-- {
		if t, ok := call.Args[i].(*ast.TableExpr); ok {
			return t
		}
	}
	return nil
}

// fieldNamed returns the field of that name; the last one, as in Lua.
func fieldNamed(t *ast.TableExpr, names []string) *ast.Field {
	if t == nil {
		return nil
	}
	var found *ast.Field
	for _, f := range t.Fields {
		key := keyOf(f)
		for _, n := range names {
			if key == n {
				found = f
			}
		}
	}
	return found
}

// keyOf returns the key of a field if it is written down, or "".
func keyOf(f *ast.Field) string {
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

// inValue returns the position of the value at path below a field, or of the innermost value
// around it that is written.
func inValue(t *tree, f *ast.Field, path schema.Path, key bool) diag.Pos {
	for _, step := range path {
		table, ok := f.Value.(*ast.TableExpr)
		if !ok {
			break
		}
		var next *ast.Field
		switch step := step.(type) {
		case int:
			next = nthField(table, step)
		case string:
			next = fieldNamed(table, []string{step})
		}
		if next == nil {
			break
		}
		f = next
	}
	if key && f.Key != nil {
		return t.posOf(f.Key)
	}
	return t.posOf(f.Value)
}

// nthField returns the field without a key number n, from 0, or nil.
func nthField(t *ast.TableExpr, n int) *ast.Field {
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

// namePos returns the place of name number nth of a call: in its table, in the argument before
// it, or in the argument of the call before it.
func namePos(t *tree, call *ast.FuncCallExpr, props *ast.TableExpr, nth int) diag.Pos {
	if props != nil {
		if f := nthField(props, nth); f != nil {
			return t.posOf(f.Value)
		}
	}
	if inner, ok := call.Func.(*ast.FuncCallExpr); ok {
		call = inner
	}
	if len(call.Args) == 0 {
		return diag.Pos{}
	}
	if list, ok := call.Args[0].(*ast.TableExpr); ok {
		if f := nthField(list, nth); f != nil {
			return t.posOf(f.Value)
		}
	}
	return t.posOf(call.Args[0])
}
