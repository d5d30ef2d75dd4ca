package manifest

import (
	"maps"
	"strconv"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// ParseRequest returns the resource that a program requests. Properties has the name, and may have
// a control as in a manifest.
func ParseRequest(t *resource.Type, properties *schema.Table) (Single, error) {
	s := Single{Type: t, Properties: new(schema.Table), Prefix: "control."}
	var errs diag.List
	for _, e := range properties.Entries {
		if e.Key != "control" {
			s.Properties.Entries = append(s.Properties.Entries, e)
			continue
		}
		if e.Val.Kind == schema.Nil {
			continue
		}
		if e.Val.Kind != schema.Map {
			errs.Add(diag.Errorf(diag.Pos{}, "control: %w", diag.Expected("a table with if and unless")))
			continue
		}
		for _, c := range e.Val.Table().Entries {
			errs.Add(s.control(c))
		}
	}
	if err := errs.Err(); err != nil {
		return s, s.about(err)
	}
	return s, nil
}

// control takes one condition.
func (s *Single) control(e schema.Entry) error {
	text := e.Val.S
	switch e.Val.Kind {
	case schema.Nil:
		return nil
	case schema.Bool:
		text = strconv.FormatBool(e.Val.B)
	case schema.String:
	default:
		return diag.Errorf(diag.Pos{}, "control.%s: %w", e.Key, diag.Expected("an expression that is true or false"))
	}
	switch e.Key {
	case "if":
		s.If = &text
	case "unless":
		s.Unless = &text
	default:
		return diag.Errorf(diag.Pos{}, "control: %w", diag.Unknown("key", e.Key, []string{"if", "unless"}))
	}
	return nil
}

// ValueOf returns the value of a node for the decoder, with expressions not evaluated.
func ValueOf(n *data.Node) schema.Value {
	switch n.Kind {
	case schema.List:
		items := make([]schema.Value, len(n.Items))
		for i, item := range n.Items {
			items[i] = ValueOf(item)
		}
		return schema.ListValue(items...)
	case schema.Map:
		t := &schema.Table{Entries: make([]schema.Entry, len(n.Entries))}
		for i, e := range n.Entries {
			t.Entries[i] = schema.Entry{Key: e.Key.Text, Val: ValueOf(e.Val)}
		}
		return schema.MapValue(t)
	}
	return n.Scalar()
}

// RequestSchema returns the JSON Schema of a request to bring one resource of a
// type of reg in order, in the given protocol.
func RequestSchema(reg *resource.Registry, protocol string) map[string]any {
	out := Schema(reg)
	defs := maps.Clone(out["$defs"].(shape))
	delete(defs, "block")
	var forms []any
	for _, t := range reg.Types() {
		delete(defs, t.Name)
		delete(defs, t.Name+".defaults")
		forms = append(forms, shape{"properties": shape{"type": shape{"const": t.Name}, "properties": ref(t.Name + ".single")}})
	}
	return shape{
		"$schema": out["$schema"], "title": "ccm request", "type": "object",
		"description":          "One resource to apply.",
		"required":             []any{"protocol", "type", "properties"},
		"additionalProperties": false,
		"properties": shape{
			"protocol":   shape{"const": protocol},
			"type":       shape{"enum": names(reg)},
			"properties": shape{"type": "object", "description": "The properties of the resource, its name among them."},
			"sensitive":  shape{"type": "array", "items": shape{"type": "string"}, "description": "The names of secret properties, which are masked in all output."},
		},
		"oneOf": forms,
		"$defs": defs,
	}
}

func names(reg *resource.Registry) (out []any) {
	for _, name := range reg.TypeNames() {
		out = append(out, name)
	}
	return out
}
