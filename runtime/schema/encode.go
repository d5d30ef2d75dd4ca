package schema

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Encode is the inverse of [Union.Decode]: it returns a table that decodes to
// structs equal to those that src points to. Secrets are not concealed.
func (m Union) Encode(src ...any) *Table {
	t := &Table{Entries: make([]Entry, 0, 8)}
	m.EncodeInto(t, src...)
	return t
}

// EncodeInto is Encode into t, whose memory it reuses.
func (m Union) EncodeInto(t *Table, src ...any) {
	t.Entries = t.Entries[:0]
	for k, s := range m {
		v := structOf(src[k])
		for i := range s.Fields {
			f := &s.Fields[i]
			if val, ok := f.encode(v.Field(f.index)); ok && !m[:k].declares(f.Name) {
				t.Entries = append(t.Entries, Entry{f.Name, val})
			}
		}
	}
}

// declares reports whether a schema of m has a property of that name.
func (m Union) declares(name string) bool {
	for _, s := range m {
		if f := s.Field(name); f != nil && f.Name == name {
			return true
		}
	}
	return false
}

// encode returns the value of a field, and whether it is set.
func (f *Field) encode(v reflect.Value) (Value, bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return Value{}, false
		}
		return f.value(v.Elem()), true
	}
	if v.IsZero() && f.Default == "" && !f.Required && !f.IsName {
		return Value{}, false
	}
	return f.value(v), true
}

// value returns v, which is no pointer, in the form of a front end.
func (f *Field) value(v reflect.Value) Value {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return Value{}
		}
		v = v.Elem()
	}
	switch f.Kind {
	case String:
		return StringValue(f.textOf(v))
	case Bool:
		return BoolValue(v.Bool())
	case Int:
		return IntValue(v.Int())
	case Float:
		return Value{Kind: Float, F: v.Float()}
	case List:
		items := make([]Value, v.Len())
		for i := range items {
			items[i] = f.Elem.value(v.Index(i))
		}
		return ListValue(items...)
	case Map:
		t := new(Table)
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			t.Entries = append(t.Entries, Entry{k.String(), f.Elem.value(v.MapIndex(k))})
		}
		return MapValue(t)
	case Object:
		return MapValue(Union{f.Object}.Encode(addressable(v).Addr().Interface()))
	case Any:
		if v.IsNil() {
			return Value{}
		}
		return ValueOf(v.Elem().Interface())
	}
	return Value{}
}

// textOf returns the text of a text property: from String if the property has a syntax of its own,
// else unchanged, so that a secret stays.
func (f *Field) textOf(v reflect.Value) string {
	if f.syntax {
		if s, ok := addressable(v).Addr().Interface().(fmt.Stringer); ok {
			return s.String()
		}
	}
	return v.String()
}

// addressable returns v, or a copy of it that has an address.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// ValueOf returns plain data as a Value: the inverse of [Value.Go]. Names are
// in order.
func ValueOf(x any) Value {
	switch x := x.(type) {
	case nil:
		return Value{}
	case bool:
		return BoolValue(x)
	case int:
		return IntValue(int64(x))
	case int64:
		return IntValue(x)
	case float64:
		return Value{Kind: Float, F: x}
	case string:
		return StringValue(x)
	case []any:
		items := make([]Value, len(x))
		for i, e := range x {
			items[i] = ValueOf(e)
		}
		return ListValue(items...)
	case map[string]any:
		t := new(Table)
		for _, k := range slices.Sorted(maps.Keys(x)) {
			t.Entries = append(t.Entries, Entry{k, ValueOf(x[k])})
		}
		return MapValue(t)
	}
	return StringValue(fmt.Sprint(x))
}
