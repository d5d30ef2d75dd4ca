package manifest

import (
	"bufio"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// Convert writes m to w as a Lua script with the same catalog. Data stays in the manifest, which
// the script loads as a hierarchy document. Expressions and conditions are translated to Lua; if
// Lua cannot express one, the script has its value on this machine, with the expression in a
// comment.
func (m *Manifest) Convert(w io.Writer) error {
	c := &converter{m: m, out: bufio.NewWriter(w), conditional: make(map[string]bool)}
	for _, d := range m.Resources {
		if d.Skip != "" {
			c.conditional[d.Type.Name+"#"+d.Name] = true
		}
	}
	if m.usesData {
		c.line(0, "data.load "+luadata.Quote(filepath.Base(m.file))+" -- for its data, hierarchy and overrides")
	}
	if m.PreMessage != "" {
		c.line(0, "print "+luadata.Quote(strings.TrimRight(m.PreMessage, "\n")))
	}
	if m.FailOnError {
		c.line(0, "-- fail_on_error is set in "+m.file+": the first failure ends the run")
	}
	c.modules()
	for i := 0; i < len(m.Resources); {
		i += c.resources(m.Resources[i:])
	}
	if m.PostMessage != "" {
		c.line(0, "-- post_message of "+m.file+": "+luadata.Quote(m.PostMessage))
	}
	return c.out.Flush()
}

// A converter writes a manifest as a script.
type converter struct {
	m           *Manifest
	out         *bufio.Writer
	conditional map[string]bool // the IDs of resources with a condition
	// next are the properties of the resource behind those of the last call, to avoid making them
	// again.
	next []luaProperty
}

// modules writes the calls of require for the modules that do not ship with ccm.
func (c *converter) modules() {
	for _, name := range c.m.Modules {
		if !strings.HasPrefix(name, "std.") {
			c.line(0, "require "+luadata.Quote(name)+" -- returns constructors of types, which are no globals")
		}
	}
}

// constructor returns the function that declares resources of a type.
func constructor(t *resource.Type) string {
	if strings.HasPrefix(t.Source, "stdlib/") {
		return "std." + t.Name
	}
	return t.Name
}

func (c *converter) line(depth int, text string) {
	for _, s := range []string{strings.Repeat("  ", depth), text, "\n"} {
		_, _ = c.out.WriteString(s) // a failed write is reported by Flush
	}
}

// A luaProperty is one line of a table.
type luaProperty struct{ key, value, comment string }

// resources writes the first resource of list together with its followers that differ only in the
// name. It returns the number of written resources.
func (c *converter) resources(list []ResolvedResource) int {
	d := list[0]
	props := c.next
	c.next = nil
	cond, known := c.condition(d)
	if d.Skip != "" && !known {
		c.line(0, "-- "+d.Type.Name+"#"+d.Name+" is skipped here: "+d.Skip)
		return 1
	}
	if props == nil {
		props = c.properties(d)
	}
	names := []string{c.name(d)}
	for _, next := range list[1:] {
		c.next = nil
		if known || next.Skip != "" || next.Type != d.Type || next.decl != nil && next.control() != nil {
			break
		}
		if c.next = c.properties(next); !slices.Equal(c.next, props) {
			break
		}
		names = append(names, c.name(next))
	}
	depth := 0
	if known {
		c.line(0, "if "+cond+" then")
		depth = 1
	}
	c.declaration(depth, constructor(d.Type), names, props)
	if known {
		c.line(0, "end")
	}
	return len(names)
}

// declaration writes one call of a constructor.
func (c *converter) declaration(depth int, typ string, names []string, props []luaProperty) {
	if len(props) == 0 && len(names) == 1 && strings.HasPrefix(names[0], `"`) && !strings.Contains(names[0], `" ..`) {
		c.line(depth, typ+" "+names[0])
		return
	}
	fields := slices.Clone(names)
	short := true
	for _, p := range props {
		fields = append(fields, p.key+" = "+p.value)
		short = short && p.comment == "" && !strings.Contains(p.value, "\n")
	}
	if one := typ + " { " + strings.Join(fields, ", ") + " }"; short && len(one)+2*depth <= 100 {
		c.line(depth, one)
		return
	}
	c.line(depth, typ+" {")
	if line := strings.Join(names, ", ") + ","; len(line)+2*depth <= 100 {
		names = []string{strings.TrimSuffix(line, ",")}
	}
	for _, name := range names {
		c.line(depth+1, name+",")
	}
	for _, p := range props {
		comment := ""
		if p.comment != "" {
			comment = " -- " + p.comment
		}
		c.line(depth+1, p.key+" = "+p.value+","+comment)
	}
	c.line(depth, "}")
}

// control returns the control of a resource, or nil.
func (d ResolvedResource) control() *data.Node {
	for _, e := range d.decl.entries(nil) {
		if e.Key.Text == "control" && !e.Val.IsNil() {
			return e.Val
		}
	}
	return nil
}

// resolve returns the properties of a resource and the defaults of its block, without the name. For
// a skipped resource, values that cannot be evaluated on this machine stay expressions.
func (d ResolvedResource) resolve(env *template.Env) *table {
	if d.decl == nil {
		return &table{tab: d.Properties}
	}
	where := newTable(d.decl.key)
	for _, e := range d.decl.entries(nil) {
		if e.Key.Text == "control" {
			continue
		}
		v, errs := value(env, e.Val)
		if len(errs) > 0 && v.Kind == schema.Nil {
			v = schema.StringValue("")
		}
		where.add(e, template.Clean(e.Key.Text), v)
	}
	return where
}

// condition returns the control of a resource as a condition in Lua. Known is false if there is
// none, or Lua cannot express it.
func (c *converter) condition(d ResolvedResource) (cond string, known bool) {
	if d.decl == nil {
		return "", false
	}
	control := d.control()
	if control == nil {
		return "", false
	}
	var parts []string
	for _, e := range control.Entries {
		if e.Val.IsNil() {
			continue
		}
		code := template.Clean(e.Val.Text)
		if split, err := template.Parts(code); err == nil && len(split) == 1 && split[0].Code != "" {
			code = split[0].Code
		}
		lua, ok := template.Lua(code)
		if !ok {
			return "", false
		}
		if e.Key.Text == "unless" {
			lua = "not (" + lua + ")"
		} else if len(control.Entries) > 1 && strings.Contains(lua, " or ") {
			lua = "(" + lua + ")"
		}
		parts = append(parts, lua)
	}
	return strings.Join(parts, " and "), len(parts) > 0
}

// name returns the name of a resource in Lua.
func (c *converter) name(d ResolvedResource) string {
	if d.decl != nil {
		if lua, ok := expression(d.decl.name); ok {
			return lua
		}
	}
	return luadata.Quote(d.Name)
}

// properties returns the properties of a resource in Lua, without its name.
func (c *converter) properties(d ResolvedResource) (props []luaProperty) {
	name := d.Type.Schema().Name()
	where := d.resolve(c.m.env)
	for i, e := range where.tab.Entries {
		f := fieldOfType(d, e.Key)
		if f == nil || f == name || e.Val.Kind == schema.Nil {
			continue
		}
		var n *data.Node
		if d.decl != nil {
			n = where.nodes[i].Val
		}
		w := valueWriter{c: c, depth: 1, references: f.Elem != nil && slices.Contains(relations, f.Name)}
		p := luaProperty{key: template.LuaKey(e.Key, false), value: w.write(f, e.Val, n)}
		p.comment = strings.Join(w.comments, ", ")
		if p.value != "" {
			props = append(props, p)
		}
	}
	return props
}

// relations are the properties that refer to other resources.
var relations = []string{"require", "before", "notify", "subscribe"}

// fieldOfType returns the property of that name.
func fieldOfType(d ResolvedResource, key string) *schema.Field {
	for _, s := range d.Type.Properties() {
		if f := s.Field(key); f != nil {
			return f
		}
	}
	return nil
}

// expression translates a text with expressions to Lua. It is false if the text has none, or Lua
// cannot express them.
func expression(n *data.Node) (string, bool) {
	if n == nil || n.Kind != schema.String || !template.HasExpression(n.Text) {
		return "", false
	}
	parts, err := template.Parts(template.Clean(n.Text))
	if err != nil {
		return "", false
	}
	var out []string
	for _, p := range parts {
		if p.Code == "" {
			out = append(out, luadata.Quote(p.Text))
			continue
		}
		lua, ok := template.Lua(p.Code)
		if !ok {
			return "", false
		}
		if len(parts) > 1 && strings.ContainsAny(lua, " ") && !strings.HasPrefix(lua, "lookup(") {
			lua = "(" + lua + ")"
		}
		out = append(out, lua)
	}
	return strings.Join(out, " .. "), true
}

// number formats a number as Lua.
func number(v schema.Value) string {
	if v.Kind == schema.Int {
		return strconv.FormatInt(v.I, 10)
	}
	return strconv.FormatFloat(v.F, 'g', -1, 64)
}
