package luatype

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A field has the attributes of a property that its schema does not have.
type field struct {
	set      bool // a list whose order does not matter
	relative bool // a path that may be relative to the script
	oneLine  bool // texts must be one line

	nonEmpty string // what an empty text is not, such as "a path"; "" if it may be empty
}

// propertyKeys are the allowed keys in the table of a property.
var propertyKeys = []string{
	"type", "name", "required", "default", "enum", "doc", "example", "secret", "alias", "items", "properties", "set", "relative", "one_line", "scalar", "kind",
}

// valueKinds are the kinds of values for forms that offer values. An empty text is only a content.
var valueKinds = []string{"path", "owner", "group", "package", "service", "content", "command", "url"}

var kindNouns = map[string]string{
	"path": "a path", "owner": "the name of a user", "group": "the name of a group", "package": "the name of a package",
	"service": "the name of a service", "command": "a command", "url": "a URL",
}

// scalars are the types of single values.
var scalars = map[string]reflect.Type{
	"string":  reflect.TypeFor[string](),
	"integer": reflect.TypeFor[int64](),
	"number":  reflect.TypeFor[float64](),
	"boolean": reflect.TypeFor[bool](),
	"path":    reflect.TypeFor[Path](),
	"mode":    reflect.TypeFor[Mode](),

	"mode_change": reflect.TypeFor[ModeChange](),
	"regexp":      reflect.TypeFor[Regexp](),
	"any":         reflect.TypeFor[any](),
}

// typeNames are the types that a property can have.
var typeNames = []string{"string", "integer", "number", "boolean", "path", "mode", "mode_change", "regexp", "list", "map", "table", "any"}

// schema reads a table of properties. More are properties that the table does not have.
func (r *reader) schema(doc string, props *lua.LTable, path schema.Path, more ...schema.Property) (*schema.Schema, map[string]field) {
	list := slices.Clone(more)
	fields := make(map[string]field)
	for _, p := range more {
		fields[p.Name] = field{}
	}
	for k, v := props.Next(lua.LNil); k != lua.LNil; k, v = props.Next(k) {
		name, ok := k.(lua.LString)
		at := append(path[:len(path):len(path)], k.String())
		if !ok || !schema.IsIdentifier(string(name)) {
			r.failIn(at, true, "", "%s%w", prefix(path), diag.Expected("a lower-case word as the name of a property").Got("%s", describe(k)))
		}
		t, ok := v.(*lua.LTable)
		if !ok {
			r.failIn(at, false, `such as { type = "string", required = true }`, "%s%w", prefix(at), diag.Expected("a table").Got("%s", describe(v)))
		}
		p, f := r.property(string(name), t, at)
		list, fields[string(name)] = append(list, p), f
	}
	s, err := schema.Make(doc, list)
	if err != nil {
		r.failIn(path, false, "", "%s%w", prefix(path), err)
	}
	return s, fields
}

// property reads one property.
func (r *reader) property(name string, t *lua.LTable, path schema.Path) (schema.Property, field) {
	r.known(t, path, propertyKeys)
	p := schema.Property{Name: name}
	p.Doc, p.Example = r.string(t, path, "doc"), r.string(t, path, "example")
	if p.ValueKind = r.string(t, path, "kind"); p.ValueKind != "" && !slices.Contains(valueKinds, p.ValueKind) {
		r.failIn(append(path, "kind"), false, diag.DidYouMean(p.ValueKind, valueKinds), "%s%w", prefix(append(path, "kind")), diag.Expected("one of %s", strings.Join(valueKinds, ", ")).Got("%q", p.ValueKind))
	}
	p.IsName, p.Required, p.Secret = r.truth(t, path, "name"), r.truth(t, path, "required"), r.truth(t, path, "secret")
	f := field{set: r.truth(t, path, "set"), relative: r.truth(t, path, "relative"), oneLine: r.truth(t, path, "one_line")}
	f.nonEmpty = kindNouns[p.ValueKind]
	if f.relative {
		f.nonEmpty = kindNouns["path"]
	}
	p.Scalar = r.truth(t, path, "scalar")
	p.Aliases = r.strings(t, path, "alias")
	p.Values = r.strings(t, path, "enum")
	r.valueType(t, path, &p, &f)
	p.Default = r.defaultText(t, path, p)
	return p, f
}

// valueType reads the type of a property's values.
func (r *reader) valueType(t *lua.LTable, path schema.Path, p *schema.Property, f *field) {
	typ := r.string(t, path, "type")
	wrong := func(key, format string, args ...any) {
		r.failIn(append(path, key), false, "", prefix(append(path, key))+format, args...)
	}
	items, nested := t.RawGetString("items"), t.RawGetString("properties")
	switch {
	case typ == "" && nested != lua.LNil:
		typ = "table"
	case typ == "":
		typ = "string"
	}
	switch {
	case items != lua.LNil && typ != "list" && typ != "map":
		wrong("items", "only lists and maps can have items, this is a %s", typ)
	case nested != lua.LNil && typ != "table":
		wrong("properties", "only tables can have properties, this is a %s", typ)
	case f.set && typ != "list":
		wrong("set", "only a list can be a set, this is a %s", typ)
	case f.relative && typ != "path" && typ != "string":
		wrong("relative", "only a path can be relative, this is a %s", typ)
	case f.oneLine && typ != "string" && typ != "list" && typ != "map":
		wrong("one_line", "only strings, and strings of a list or map, can be one line, this is a %s", typ)
	case p.Scalar && typ != "string" && typ != "list" && typ != "map" && typ != "any":
		wrong("scalar", "only strings, strings of a list or map, and any can be scalar, this is a %s", typ)
	case p.Values != nil && typ != "string" && typ != "list":
		wrong("enum", "only strings, and items of a list, can have an enum, this is a %s", typ)
	}
	switch typ {
	case "list", "map":
		elem := reflect.TypeFor[string]()
		if items != lua.LNil {
			elem = r.items(items, append(path, "items"), p)
		}
		if p.Type = reflect.SliceOf(elem); typ == "map" {
			p.Type = reflect.MapOf(reflect.TypeFor[string](), elem)
		}
	case "table":
		props, ok := nested.(*lua.LTable)
		if !ok {
			wrong("properties", "%w", diag.Expected("a table of properties").Got("%s", describe(nested)))
		}
		p.Object, _ = r.schema("", props, append(path, "properties"))
		p.Type = p.Object.GoType
	default:
		if p.Type = scalars[typ]; p.Type == nil {
			hint := diag.DidYouMean(typ, typeNames)
			r.failIn(append(path, "type"), false, hint, "%s%w", prefix(append(path, "type")), diag.Expected("one of %s", strings.Join(typeNames, ", ")).Got("%q", typ))
		}
		if f.relative {
			p.Type = scalars["string"] // absolute after locate
		}
	}
}

// items reads the elements of a list or map: the name of a type, or the properties of a table.
func (r *reader) items(v lua.LValue, path schema.Path, p *schema.Property) reflect.Type {
	if props, ok := v.(*lua.LTable); ok {
		p.Object, _ = r.schema("", props, path)
		return p.Object.GoType
	}
	typ, ok := v.(lua.LString)
	elem := scalars[string(typ)]
	if !ok || elem == nil {
		r.failIn(path, false, "", "%s%w", prefix(path), diag.Expected(`the name of a type such as "string", or a table of properties`).Got("%s", describe(v)))
	}
	return elem
}

func (r *reader) string(t *lua.LTable, path schema.Path, key string) string {
	v := t.RawGetString(key)
	s, ok := v.(lua.LString)
	if v != lua.LNil && !ok {
		r.failIn(append(path, key), false, "", "%s%w", prefix(append(path, key)), diag.Expected("a string").Got("%s", describe(v)))
	}
	return string(s)
}

func (r *reader) truth(t *lua.LTable, path schema.Path, key string) bool {
	v := t.RawGetString(key)
	if v != lua.LNil && v.Type() != lua.LTBool {
		r.failIn(append(path, key), false, "", "%s%w", prefix(append(path, key)), diag.Expected("true or false").Got("%s", describe(v)))
	}
	return v == lua.LTrue
}

// strings reads a string or a list of strings.
func (r *reader) strings(t *lua.LTable, path schema.Path, key string) []string {
	v := t.RawGetString(key)
	if s, ok := v.(lua.LString); ok {
		return []string{string(s)}
	}
	list, ok := v.(*lua.LTable)
	if v != lua.LNil && !ok {
		r.failIn(append(path, key), false, "", "%s%w", prefix(append(path, key)), diag.Expected("a string or a list of strings").Got("%s", describe(v)))
	}
	var out []string
	for i := 1; ok && i <= list.Len(); i++ {
		s, ok := list.RawGetInt(i).(lua.LString)
		if !ok {
			r.failIn(append(path, key, i-1), false, "", "%s%w", prefix(append(path, key, i-1)), diag.Expected("a string").Got("%s", describe(list.RawGetInt(i))))
		}
		out = append(out, string(s))
	}
	return out
}

// defaultText reads a default as the text that the decoder takes.
func (r *reader) defaultText(t *lua.LTable, path schema.Path, p schema.Property) string {
	at := append(path, "default")
	kind := p.Type.Kind()
	switch v := t.RawGetString("default").(type) {
	case *lua.LNilType:
		return ""
	case lua.LString:
		if v == "" {
			r.failIn(at, false, `use want.name or "" instead`, "%sa default cannot be empty", prefix(at))
		}
		if kind != reflect.Slice && kind != reflect.Map {
			return string(v)
		}
	case lua.LBool:
		if kind == reflect.Bool {
			return strconv.FormatBool(bool(v))
		}
	case lua.LNumber:
		if kind == reflect.Int64 || kind == reflect.Float64 {
			return v.String()
		}
	}
	r.failIn(at, false, "", "%sa %s cannot be the default here", prefix(at), t.RawGetString("default").Type())
	return ""
}
