package schema

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Property declares one property of a schema that is made at run time; see
// [Make].
type Property struct {
	Name    string
	Aliases []string
	Doc     string
	// Type is what a field of a struct would have: a string, a bool, an int64, a
	// float64, any, a type with UnmarshalText and String, or a list or a map of
	// these. It is not a pointer: a property without default that is not required
	// may be left out.
	Type reflect.Type
	// Object describes the properties of a table, or of the tables in a list or
	// map, if Type is Object.GoType, or a list or map of it.
	Object *Schema
	// Values are the only ones allowed, for a string or the items of a list.
	Values  []string
	Default string
	Example string
	// ValueKind is [Field.ValueKind].
	ValueKind string
	Required  bool
	Secret    bool
	IsName    bool
	Scalar    bool // see [Field.Scalar]
}

// A Holder holds a struct, which is decoded into and encoded.
type Holder interface {
	// Held returns a pointer to the struct.
	Held() any
}

// maxProperties is the maximum number of a schema's properties: the decoder has a bit for each.
const maxProperties = 64

// Make describes properties that are known only at run time, as [Of] does those
// of a struct. What it describes is a struct too: its GoType, in which the
// properties have no names of their own.
func Make(doc string, props []Property) (*Schema, error) {
	if len(props) > maxProperties {
		return nil, diag.MustBe("at most %d properties", maxProperties).Got("%d", len(props))
	}
	s := &Schema{Doc: doc, byName: make(map[string]int), name: -1}
	fields := make([]reflect.StructField, len(props))
	for i, p := range props {
		f := p.field(i)
		fields[i] = reflect.StructField{Name: f.goName, Type: f.goType}
		for _, n := range append([]string{f.Name}, f.Aliases...) {
			if at, dup := s.byName[n]; dup {
				return nil, fmt.Errorf("%s: %w", f.Name,
					diag.Already(fmt.Sprintf("name %s", n), "used by property %s", s.Fields[at].Name))
			}
			s.byName[n] = i
		}
		if f.IsName {
			if s.name >= 0 {
				return nil, fmt.Errorf("%s: %w", f.Name, diag.Already(s.Fields[s.name].Name, "the property that names the resource"))
			}
			if f.Kind != String || f.goType.Kind() != reflect.String {
				return nil, fmt.Errorf("%s: %w", f.Name, diag.MustBe("a string, because it names the resource"))
			}
			s.name = i
		}
		s.Fields = append(s.Fields, f)
	}
	s.GoType = reflect.StructOf(fields)
	return s, s.checkDefaults()
}

// field returns the field number i of the struct.
func (p Property) field(i int) Field {
	t := p.Type
	_, fixed := nilKinds[t.Kind()]
	if !fixed && p.Default == "" && !p.Required && !p.IsName {
		t = reflect.PointerTo(t)
	}
	f := describe(t)
	f.Name, f.Aliases, f.Doc, f.Default, f.Example = p.Name, p.Aliases, p.Doc, p.Default, p.Example
	f.Required, f.Secret, f.IsName, f.ValueKind = p.Required, p.Secret, p.IsName, p.ValueKind
	f.goName, f.index, f.tag = fmt.Sprintf("P%d", i), i, xxhash.Sum64String(p.Name)
	of := &f
	if f.Elem != nil {
		of = f.Elem
	}
	of.Scalar = p.Scalar
	if p.Values != nil {
		of.Values = p.Values
	}
	if p.Object != nil {
		of.Object = p.Object
	}
	return f
}

// nilKinds are the kinds of types whose nil means that a property is not set.
var nilKinds = map[reflect.Kind]struct{}{reflect.Slice: {}, reflect.Map: {}, reflect.Interface: {}}

// checkDefaults reports a default that cannot be the value of its property.
func (s *Schema) checkDefaults() error {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Default == "" {
			continue
		}
		d := decoder{table: &Table{}}
		d.enter("default")
		f.assign(&d, reflect.New(f.goType).Elem(), TextValue(f.Default))
		if err := d.errs.Err(); err != nil {
			return fmt.Errorf("%s: %w", f.Name, withoutPosition(err))
		}
	}
	return nil
}

// withoutPosition returns a mistake without its position.
func withoutPosition(err error) error {
	if e, ok := errors.AsType[*diag.Error](err); ok {
		return e.Err
	}
	return err
}

// IsDynamic reports whether s was made by [Make]. Then its documentation is complete.
func (s *Schema) IsDynamic() bool { return s.GoType.Name() == "" }

// structOf returns the struct that p points to or holds.
func structOf(p any) reflect.Value {
	if h, ok := p.(Holder); ok {
		p = h.Held()
	}
	return reflect.ValueOf(p).Elem()
}

// Value returns the value of a property; given is false if the value was left out, or if the
// property does not exist.
func (s *Schema) Value(src any, property string) (v Value, given bool) {
	i, ok := s.byName[property]
	if !ok {
		return Value{}, false
	}
	return s.Fields[i].encode(structOf(src).Field(i))
}

// Text returns the text of a property, in the notation of its type if that has a syntax of its own;
// "" if it was left out or is not a text.
func (s *Schema) Text(src any, property string) string {
	v, _ := s.Value(src, property)
	return v.S
}

// IsIdentifier reports whether name can be the name of a property: a word of small letters, digits
// and underscores.
func IsIdentifier(name string) bool {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
}

// Canonical returns a text in the canonical form of a property with a syntax of its own, and any
// other text unchanged.
func (f *Field) Canonical(text string) string {
	v := reflect.New(elemType(f.goType))
	u, ok := v.Interface().(encoding.TextUnmarshaler)
	if !ok || u.UnmarshalText([]byte(text)) != nil {
		return text
	}
	return f.textOf(v.Elem())
}
