package manifest

import (
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/luadata"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// A valueWriter writes the value of one property in Lua.
type valueWriter struct {
	c          *converter
	depth      int
	references bool // the value names other resources
	comments   []string
}

// write returns a value of the property f in Lua. Node is its YAML node, or nil.
func (w *valueWriter) write(f *schema.Field, v schema.Value, n *data.Node) string {
	if n != nil && n.Kind == schema.String && template.HasExpression(n.Text) {
		if lua, ok := w.expression(f, v, n); ok {
			return lua
		}
		w.comments = append(w.comments, oneLine(template.Clean(n.Text)))
		n = nil
	}
	switch v.Kind {
	case schema.List:
		return w.list(f, v, n)
	case schema.Map:
		return w.table(f, v, n)
	}
	return w.scalar(f, v)
}

// expression translates an expression of the manifest to Lua. It is false if Lua cannot express it,
// or if its type differs from the type of the property.
func (w *valueWriter) expression(f *schema.Field, v schema.Value, n *data.Node) (string, bool) {
	lua, ok := expression(n)
	if !ok || w.references {
		return "", false
	}
	parts, _ := template.Parts(n.Text)
	if len(parts) == 1 && f.Kind == schema.String && v.Kind != schema.String {
		if v.Kind != schema.Int || v.I > 1e14 || v.I < -1e14 {
			return "", false // Lua formats such numbers differently
		}
		return "tostring(" + lua + ")", true
	}
	return lua, true
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (w *valueWriter) scalar(f *schema.Field, v schema.Value) string {
	if w.references && w.c.conditional[v.S] {
		w.comments = append(w.comments, v.S+" may be absent")
		return ""
	}
	switch f.Kind {
	case schema.String, schema.List:
		if f.Kind == schema.List && f.Elem.Kind != schema.String {
			return w.scalar(f.Elem, v)
		}
		return w.text(v.S)
	case schema.Bool:
		return strconv.FormatBool(v.B)
	case schema.Int, schema.Float:
		return number(v)
	}
	switch v.Go().(type) {
	case nil:
		return "nil"
	case bool:
		return strconv.FormatBool(v.B)
	case int64, float64:
		return number(v)
	}
	return w.text(v.S)
}

// text returns a text as a literal, in long brackets if it has several lines.
func (w *valueWriter) text(s string) string {
	if strings.Count(s, "\n") < 2 && len(s) < 100 || strings.ContainsAny(s, "\r\x00") || !strings.Contains(s, "\n") {
		return luadata.Quote(s)
	}
	level := ""
	for strings.Contains(s, "]"+level+"]") || strings.HasSuffix(s, "]"+level) {
		level += "="
	}
	return "[" + level + "[\n" + s + "]" + level + "]"
}

func (w *valueWriter) list(f *schema.Field, v schema.Value, n *data.Node) string {
	elem := f
	if f.Kind == schema.List {
		elem = f.Elem
	}
	var items []string
	for i, item := range v.Items() {
		var in *data.Node
		if n != nil && n.Kind == schema.List {
			in = n.Items[i]
		}
		if s := w.write(elem, item, in); s != "" {
			items = append(items, s)
		}
	}
	if w.references && len(items) == 0 {
		return ""
	}
	return braces(items, w.depth)
}

func (w *valueWriter) table(f *schema.Field, v schema.Value, n *data.Node) string {
	var items []string
	for i, e := range v.Table().Entries {
		elem := f
		switch {
		case f.Kind == schema.Map || f.Kind == schema.List && f.Elem.Kind == schema.Map:
			elem = f.Elem
		case f.Kind == schema.Object:
			if elem = f.Object.Field(e.Key); elem == nil {
				continue
			}
		case f.Kind == schema.List && f.Elem.Kind == schema.Object:
			if elem = f.Elem.Object.Field(e.Key); elem == nil {
				continue
			}
		}
		if e.Val.Kind == schema.Nil {
			continue
		}
		var in *data.Node
		if n != nil && n.Kind == schema.Map {
			in = n.Entries[i].Val
		}
		w.depth++
		items = append(items, template.LuaKey(e.Key, false)+" = "+w.write(elem, e.Val, in))
		w.depth--
	}
	return braces(items, w.depth)
}

// braces returns a table on one line, or on several if it is long.
func braces(items []string, depth int) string {
	if len(items) == 0 {
		return "{}"
	}
	one := "{ " + strings.Join(items, ", ") + " }"
	if len(one) <= 80 && !strings.Contains(one, "\n") {
		return one
	}
	indent := strings.Repeat("  ", depth+1)
	return "{\n" + indent + strings.Join(items, ",\n"+indent) + ",\n" + strings.Repeat("  ", depth) + "}"
}
