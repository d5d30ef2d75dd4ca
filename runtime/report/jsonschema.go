package report

import (
	"reflect"
	"strings"
	"time"
)

// EventSchema returns the JSON Schema (draft 2020-12) of an event.
func EventSchema() map[string]any {
	s := shapeOf(reflect.TypeFor[Event]())
	s["properties"].(map[string]any)["protocol"] = map[string]any{"const": EventProtocol}
	return s
}

// shapeOf returns the JSON Schema of what encoding/json makes of a type.
func shapeOf(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem())
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return map[string]any{"type": "integer"}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": shapeOf(t.Elem())}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": shapeOf(t.Elem())}
	case t.Kind() == reflect.Struct:
		return objectShape(t)
	}
	return map[string]any{}
}

func objectShape(t reflect.Type) map[string]any {
	props, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		props[name] = shapeOf(t.Field(i).Type)
		if !strings.Contains(opts, "omit") {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
}
