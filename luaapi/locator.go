package luaapi

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A locator is the schema.Locator of a declaration. It keeps only the node of the call, and
// finds the positions of properties in the syntax tree when a message needs them.
type locator struct {
	source   *sourceMap
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
		return p.source.lineOf(p.node, p.file)
	}
	if pos.File == "" {
		pos.File = p.file
	}
	return pos
}

func (p *locator) locate(path schema.Path, key bool) diag.Pos {
	c := p.source.chunkOf(p.node)
	if c == nil {
		return diag.Pos{}
	}
	t := c.tree()
	call, ok := t.Node(p.node).(*ast.FuncCallExpr)
	if !ok {
		return t.NodePos(p.node)
	}
	if len(path) == 0 {
		return syntax.ConstructorPos(t, call)
	}
	name, _ := path[0].(string)
	names := p.spellings(name)
	props := syntax.TableArg(call)
	for _, spelled := range [][]string{{name}, names} {
		if f := syntax.FieldNamed(props, spelled); f != nil {
			return syntax.InValue(t, f, path[1:], key)
		}
	}
	if names[0] == p.typ.Schema().Name().Name {
		if pos := syntax.NamePos(t, call, props, p.nth); pos.Line > 0 {
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
	return syntax.ConstructorPos(t, call)
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
