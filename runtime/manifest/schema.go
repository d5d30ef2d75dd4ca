package manifest

import (
	"maps"
	"slices"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A shape is a JSON Schema, or part of one.
type shape = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of manifests with the types of reg. It is
// derived from the declarations of the types, so that an editor accepts what ccm accepts.
// It does not check references, expressions and contradictions.
func Schema(reg *resource.Registry) map[string]any {
	defs := shape{
		"expression": shape{"type": "string", "pattern": `\$\{|\{\{`, "description": "A string with an expression, which is evaluated."},
		"condition":  shape{"type": []any{"string", "boolean", "null"}, "description": "An expression that is true or false."},
		"control": shape{
			"type": []any{"object", "null"}, "additionalProperties": false,
			"description": "Whether the resource is managed: only if the expression under if is true and the one under unless is false.",
			"properties":  shape{"if": ref("condition"), "unless": ref("condition")},
		},
	}
	block := shape{}
	for _, t := range reg.Types() {
		defs[t.Name] = properties(t, true)
		defs[t.Name+".single"] = singleResource(t)
		defs[t.Name+".defaults"] = properties(t, false)
		block[t.Name] = shape{"anyOf": []any{
			shape{"type": "array", "items": namedResource(t)},
			ref(t.Name + ".single"),
		}}
	}
	defs["block"] = shape{
		"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false, "properties": block,
		"description": "The resources of one type.",
	}
	anyTable := shape{"type": []any{"object", "null"}}
	return shape{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "ccm manifest",
		"type":                 "object",
		"required":             []any{"ccm"},
		"additionalProperties": false,
		"properties": shape{
			"data": withDescription(anyTable, "The data. Comments with @require and @validate check it. A value {sensitive: true, value: ...} is a secret."),
			"hierarchy": shape{
				"type": []any{"object", "null"}, "additionalProperties": false,
				"properties": shape{
					"order":           shape{"type": "array", "items": shape{"type": []any{"string", "number", "boolean"}}, "default": []any{"default"}, "description": "The overrides to look up, in this order."},
					"merge":           shape{"enum": []any{"first", "deep", nil}, "default": "first", "description": "Whether only the first override is used, or all are merged."},
					"knockout_prefix": shape{"type": []any{"string", "null"}, "minLength": 1, "description": "With merge: deep, keys and list items with this prefix remove inherited ones."},
				},
			},
			"overrides": shape{"type": []any{"object", "null"}, "additionalProperties": anyTable, "description": "Data that replaces or is merged with the base data, by entries of the order."},
			"ccm": shape{
				"type": "object", "additionalProperties": false,
				"properties": shape{
					"modules":            shape{"type": "array", "items": shape{"type": "string"}, "description": "Lua modules that define resource types. Built-in ones need not be listed."},
					"resources":          shape{"type": "array", "items": ref("block")},
					"resources_jet_file": shape{"type": "string", "description": "A Jet template that writes the list of resources, relative to the manifest."},
					"fail_on_error":      shape{"anyOf": []any{shape{"type": []any{"boolean", "null"}}, ref("expression")}, "default": false, "description": "Whether the first failure ends the run."},
					"pre_message":        message("before"),
					"post_message":       message("after"),
				},
				"oneOf": []any{shape{"required": []any{"resources"}}, shape{"required": []any{"resources_jet_file"}}},
			},
		},
		"$defs": defs,
	}
}

func ref(name string) shape { return shape{"$ref": "#/$defs/" + name} }

func withDescription(s shape, doc string) shape {
	s = maps.Clone(s)
	s["description"] = doc
	return s
}

func message(when string) shape {
	return shape{"type": []any{"string", "number", "boolean", "null"}, "description": "A message shown " + when + " the run."}
}

// namedResource is the schema of an item in a list: a name with its properties, or the defaults of
// the block.
func namedResource(t *resource.Type) shape {
	return shape{
		"type": "object", "minProperties": 1, "maxProperties": 1,
		"properties":           shape{"defaults": shape{"anyOf": []any{ref(t.Name + ".defaults"), shape{"type": "null"}}}},
		"additionalProperties": shape{"anyOf": []any{ref(t.Name), shape{"type": "null"}}},
	}
}

// properties is the schema of a named resource's properties, or of a block's defaults. No property
// is required, because the defaults may have it.
func properties(t *resource.Type, documented bool) shape {
	props := shape{"control": ref("control")}
	for _, s := range t.Properties() {
		for i := range s.Fields {
			f := &s.Fields[i]
			if f.IsName {
				continue
			}
			p := property(f)
			for _, name := range slices.Concat([]string{f.Name}, f.Aliases) {
				props[name] = p
			}
		}
	}
	out := shape{"type": "object", "properties": props, "additionalProperties": false}
	if doc := t.Schema().Doc; doc != "" && documented {
		out["description"] = doc
	}
	return out
}

// singleResource is the schema of a resource with its name among the properties.
func singleResource(t *resource.Type) shape {
	out := properties(t, true)
	name := t.Schema().Name()
	props := out["properties"].(shape)
	var forms []any
	for _, n := range slices.Concat([]string{name.Name}, name.Aliases) {
		props[n] = property(name)
		forms = append(forms, shape{"required": []any{n}})
	}
	out["anyOf"] = forms
	var required []any
	for _, f := range t.Schema().Fields {
		if f.Required && !f.IsName && f.Default == "" && len(f.Aliases) == 0 {
			required = append(required, f.Name)
		}
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// property returns the schema of the values of f in manifests, which may be expressions,
// null, and numbers for texts.
func property(f *schema.Field) shape {
	out := shape{"anyOf": append(forms(f), ref("expression"), shape{"type": "null"})}
	if f.Doc != "" {
		out["description"] = f.Doc
	}
	if f.Default != "" {
		out["default"] = f.Default
	}
	if f.Example != "" {
		out["examples"] = []any{f.Example}
	}
	return out
}

// forms returns the schemas of the forms of a value of f.
func forms(f *schema.Field) []any {
	switch f.Kind {
	case schema.Bool, schema.Int, schema.Float:
		return []any{shape{"type": f.Kind.String()}}
	case schema.List:
		list := []any{shape{"type": "array", "items": shape{"anyOf": append(forms(f.Elem), ref("expression"))}}}
		if f.Elem.Kind != schema.Any {
			list = append(list, forms(f.Elem)...)
		}
		return list
	case schema.Map:
		return []any{shape{"type": "object", "additionalProperties": shape{"anyOf": append(forms(f.Elem), ref("expression"), shape{"type": "null"})}}}
	case schema.Object:
		props := shape{}
		var required []any
		for i := range f.Object.Fields {
			e := &f.Object.Fields[i]
			for _, name := range slices.Concat([]string{e.Name}, e.Aliases) {
				props[name] = property(e)
			}
			if e.Required && e.Default == "" && len(e.Aliases) == 0 {
				required = append(required, e.Name)
			}
		}
		out := shape{"type": "object", "properties": props, "additionalProperties": false}
		if len(required) > 0 {
			out["required"] = required
		}
		maps.Copy(out, f.Constraints())
		return []any{out}
	case schema.Any:
		return []any{shape{}}
	}
	if f.Values != nil {
		values := make([]any, len(f.Values))
		for i, v := range f.Values {
			values[i] = v
		}
		return []any{shape{"enum": values}}
	}
	own := f.JSONSchema()
	for _, key := range []string{"description", "default"} {
		delete(own, key)
	}
	return []any{own, shape{"type": []any{"number", "boolean"}}}
}
