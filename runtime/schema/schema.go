// Package schema reads a struct of properties once and derives from it everything that depends on its fields: the
// decoder for every front end, the JSON Schema, the reference, command-line flags and editor stubs.
//
// A property is a field with a ccm tag: its name, then options.
//
//	Content *string `ccm:"content,alias=contents"`
//
// The options are:
//
//	name       it names the resource
//	required   it must be given
//	secret     its value is secret
//	argv       it becomes arguments of a command, which all users can read
//	words      a text that may be given as a list of words, which are quoted for a shell
//	quoted     a boolean must be quoted to be taken as text
//	added      the default is added to the given list
//	pairs      a list of KEY=VALUE that may be given as a table
//	kind=x     the kind of its values, see [Field.ValueKind]
//	usual      forms show it from the start
//	unless=x   it is required unless x holds, in words
//	alias=x, default=x, example=x
//
// A pointer means that the property is not managed if it is not given. A property with its own syntax has a type with
// UnmarshalText and String, whose Go name the reference shows; a closed set of values is a string type with Values. The
// doc comment of a field is part of the documentation for users.
//
// Begin with [Of] and [Schema.Decode].
package schema

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// A Field is one property.
type Field struct {
	Name     string
	Aliases  []string
	Kind     Kind
	Elem     *Field   // the elements of a List or Map
	Object   *Schema  // the properties of an Object
	Values   []string // the only values allowed, if any
	Default  string
	Example  string
	Required bool
	Optional bool // a pointer; without a value the property is not managed
	Secret   bool
	Argv     bool // becomes arguments of a command
	Words    bool // a text that may be given as a list of words
	Quoted   bool // booleans do not count as their text
	Scalar   bool // a text that may be given as an integer or a boolean, or any value but a number such as 0644
	Pairs    bool // a list of KEY=VALUE that may be given as a table
	Added    bool // a list to which a default is added
	IsName   bool // the property that names the resource
	Doc      string
	// ValueKind is the kind of the values, for completions: path, mode, owner, group, package,
	// service, ref, content, command, duration, size, url. Empty if unknown.
	ValueKind string
	Usual     bool   // shown by forms from the start
	Unless    string // the condition, in words, under which the property is not required

	goName string
	goType reflect.Type
	index  int
	tag    uint64 // stands for the name in a fingerprint
	setter setter
	syntax bool // a text with a syntax of its own
}

// A Schema lists the properties of a struct in the order they are declared.
type Schema struct {
	GoType reflect.Type
	Doc    string
	Fields []Field

	byName map[string]int // names and aliases
	name   int            // index of the field that names the resource, or -1
}

// An Enum is a string type with a closed set of values.
type Enum interface{ Values() []string }

// A JSONSchemer is a type with a syntax of its own whose JSON Schema describes more than that values are
// strings.
type JSONSchemer interface{ JSONSchema() map[string]any }

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	enumType        = reflect.TypeFor[Enum]()
)

// Of describes the struct type t. It panics on a malformed declaration, which is a mistake in this
// program and not in a manifest.
func Of(t reflect.Type) *Schema {
	s := &Schema{GoType: t, byName: make(map[string]int), name: -1}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, ok := sf.Tag.Lookup("ccm")
		if !ok {
			continue
		}
		f := describe(sf.Type)
		f.goName, f.index = sf.Name, i
		name, opts, _ := strings.Cut(tag, ",")
		f.Name, f.tag = name, xxhash.Sum64String(name)
		f.setOptions(t, opts)
		for _, n := range append([]string{f.Name}, f.Aliases...) {
			if _, dup := s.byName[n]; dup {
				panic(fmt.Sprintf("schema: %v declares %q twice", t, n))
			}
			s.byName[n] = len(s.Fields)
		}
		if f.IsName {
			s.name = len(s.Fields)
		}
		s.Fields = append(s.Fields, f)
	}
	return s
}

func (f *Field) setOptions(t reflect.Type, opts string) {
	for opts != "" {
		var opt string
		opt, opts, _ = strings.Cut(opts, ",")
		key, val, _ := strings.Cut(opt, "=")
		switch key {
		case "name":
			f.IsName = true
		case "required":
			f.Required = true
		case "secret":
			f.Secret = true
		case "argv":
			f.Argv = true
		case "quoted":
			f.Quoted = true
		case "words":
			f.Words = true
		case "pairs":
			f.Pairs = true
		case "default":
			f.Default = val
		case "added":
			f.Added = true
		case "example":
			f.Example = val
		case "kind":
			f.ValueKind = val
		case "usual":
			f.Usual = true
		case "unless":
			f.Unless = val
		case "alias":
			f.Aliases = append(f.Aliases, val)
		default:
			panic(fmt.Sprintf("schema: %v.%s: unknown option %q", t, f.goName, opt))
		}
	}
}

// describe returns the kind of a Go type and the function that sets its values.
func describe(t reflect.Type) Field {
	f := Field{goType: t}
	if t.Kind() == reflect.Pointer {
		f = describe(t.Elem())
		f.goType, f.Optional = t, true
		return f
	}
	if reflect.PointerTo(t).Implements(enumType) {
		f.Values = reflect.New(t).Interface().(Enum).Values()
	}
	switch {
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		f.Kind, f.setter, f.syntax = String, setText, true
	case t.Kind() == reflect.String:
		f.Kind, f.setter = String, setString
	case t.Kind() == reflect.Bool:
		f.Kind, f.setter = Bool, setBool
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		f.Kind, f.setter = Int, setInt
	case t.Kind() == reflect.Float64:
		f.Kind, f.setter = Float, setFloat
	case t.Kind() == reflect.Interface:
		f.Kind, f.setter = Any, setAny
	case t.Kind() == reflect.Slice:
		elem := describe(t.Elem())
		f.Kind, f.Elem, f.setter = List, &elem, setList
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		elem := describe(t.Elem())
		f.Kind, f.Elem, f.setter = Map, &elem, setMap
	case t.Kind() == reflect.Struct:
		f.Kind, f.Object, f.setter = Object, Of(t), setObject
	default:
		panic(fmt.Sprintf("schema: no property kind for %v", t))
	}
	return f
}

// Name returns the field that names the resource, or nil.
func (s *Schema) Name() *Field {
	if s.name < 0 {
		return nil
	}
	return &s.Fields[s.name]
}

// NameOf returns the name of the resource whose struct p points to or holds.
func (s *Schema) NameOf(p any) string {
	return structOf(p).Field(s.Fields[s.name].index).String()
}

// Field returns the property of that name or alias, or nil.
func (s *Schema) Field(name string) *Field {
	i, ok := s.byName[name]
	if !ok {
		return nil
	}
	return &s.Fields[i]
}

// Names returns the names of all properties, aliases last.
func (s *Schema) Names() []string {
	names := make([]string, 0, len(s.byName))
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	for _, f := range s.Fields {
		names = append(names, f.Aliases...)
	}
	return names
}
