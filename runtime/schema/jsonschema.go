package schema

import (
	"maps"
	"reflect"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of a table with the
// properties of m. No other properties are allowed. The property that names
// the resource is left out of what is required, because most front ends write
// it elsewhere.
func (m Union) JSONSchema() map[string]any {
	props := map[string]any{}
	required := []string{}
	for n, s := range m {
		for i := range s.Fields {
			f := &s.Fields[i]
			if _, given := props[f.Name]; given {
				continue // an earlier schema has the property
			}
			props[f.Name] = f.JSONSchema()
			for _, a := range f.Aliases {
				props[a] = f.JSONSchema()
			}
			hints(props, f, len(props), n > 0)
			if f.Required && !f.IsName && f.Default == "" {
				required = append(required, f.Name)
			}
		}
	}
	out := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	if len(m) > 0 && m[0].Doc != "" {
		out["description"] = m[0].Doc
	}
	return out
}

// JSONSchema returns the JSON Schema of the values of f.
func (f *Field) JSONSchema() map[string]any {
	p := f.shape()
	if f.Values != nil {
		p["enum"] = f.Values
	}
	if f.Default != "" {
		p["default"] = f.Default
	}
	if f.Doc != "" {
		p["description"] = f.Doc
	}
	return p
}

func (f *Field) shape() map[string]any {
	switch f.Kind {
	case Bool, Int, Float:
		return map[string]any{"type": f.Kind.String()}
	case List:
		list := map[string]any{"type": "array", "items": f.Elem.JSONSchema()}
		if f.Elem.Kind == Object || f.Elem.Kind == Map || f.Elem.Kind == Any {
			return list
		}
		forms := []any{list, f.Elem.JSONSchema()}
		if f.Pairs {
			forms = append(forms, map[string]any{"type": "object", "additionalProperties": f.Elem.JSONSchema()})
		}
		return map[string]any{"anyOf": forms}
	case Map:
		return map[string]any{"type": "object", "additionalProperties": f.Elem.JSONSchema()}
	case Object:
		out := Union{f.Object}.JSONSchema()
		maps.Copy(out, f.Constraints())
		return out
	case Any:
		return map[string]any{}
	}
	if d, ok := reflect.New(elemType(f.goType)).Interface().(JSONSchemer); ok {
		return maps.Clone(d.JSONSchema())
	}
	text := map[string]any{"type": "string"}
	if f.Words {
		return map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": text}}}
	}
	return text
}

// Constraints returns the constraints between the properties of a table of f's type, in words of
// JSON Schema; nil for most types.
func (f *Field) Constraints() map[string]any {
	if d, ok := reflect.New(elemType(f.goType)).Interface().(JSONSchemer); ok {
		return d.JSONSchema()
	}
	return nil
}

// A KindReporter is a type with a syntax of its own whose values are of a kind (see [Field.ValueKind]).
type KindReporter interface{ PropertyKind() string }

// KindOfValue returns the kind of the values of f as [Field.ValueKind] has it, "" if unknown.
func (f *Field) KindOfValue() string {
	of := f
	if f.Kind == List {
		of = f.Elem
	}
	if k, ok := reflect.New(elemType(of.goType)).Interface().(KindReporter); ok {
		return k.PropertyKind()
	}
	if f.ValueKind == "" && (f.Words || f.Argv && f.Kind == List && f.Elem.Kind == String) {
		return "command"
	}
	return f.ValueKind
}

// hints writes x-ccm into the schemas of a property and its aliases: hints for forms that JSON
// Schema has no words for. Common says that all types have the property.
func hints(props map[string]any, f *Field, order int, common bool) {
	x := map[string]any{"order": order}
	set := func(key string, v any, there bool) {
		if there {
			x[key] = v
		}
	}
	set("kind", f.KindOfValue(), f.KindOfValue() != "")
	set("required", true, f.Required && f.Default == "")
	set("required_unless", f.Unless, f.Unless != "")
	set("usual", true, f.Usual)
	set("common", true, common)
	set("secret", true, f.Secret)
	set("example", f.Example, f.Example != "")
	props[f.Name].(map[string]any)["x-ccm"] = x
	for _, a := range f.Aliases {
		other := maps.Clone(x)
		other["alias_of"] = f.Name
		props[a].(map[string]any)["x-ccm"] = other
	}
}
