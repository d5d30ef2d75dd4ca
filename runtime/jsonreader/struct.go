package jsonreader

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Unmarshal reads a JSON object into the struct that into points to, as encoding/json does, except that it wants names of
// fields in their exact case.
func Unmarshal(text []byte, into any) error {
	r := New(text)
	if r.Next() != '{' {
		return json.Unmarshal(text, into)
	}
	r.Struct(into)
	return r.End()
}

// Struct reads an object into the struct that into points to.
func (r *Reader) Struct(into any) { r.read(reflect.ValueOf(into).Elem()) }

func (r *Reader) read(to reflect.Value) {
	fields := fieldsOf(to.Type())
	r.Object(func(name []byte) {
		index, ok := fields[string(name)]
		switch {
		case !ok || r.Next() == 'n': // null
			r.Raw()
		case len(index) == 1:
			r.set(to.Field(index[0]))
		default:
			r.set(to.FieldByIndex(index))
		}
	})
}

var known sync.Map // of reflect.Type to map[string][]int

// fieldsOf returns the indices of the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string][]int {
	if x, ok := known.Load(t); ok {
		return x.(map[string][]int)
	}
	fields := make(map[string][]int)
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && f.IsExported() {
			fields[name] = f.Index
		}
	}
	known.Store(t, fields)
	return fields
}

// A Value reads itself.
type Value interface {
	// ReadJSON reads one value that is not null.
	ReadJSON(r *Reader) error
}

// Whole reads a text that is one value.
func Whole(text []byte, into Value) error {
	r := New(text)
	err := into.ReadJSON(r)
	return cmp.Or(r.End(), err)
}

// set reads a value into a field. It leaves what it does not know to encoding/json.
func (r *Reader) set(to reflect.Value) {
	into, kind := to.Addr().Interface(), to.Kind()
	switch x := into.(type) {
	case Value:
		r.fail(x.ReadJSON(r))
		return
	case json.Unmarshaler:
		r.fail(x.UnmarshalJSON(r.Raw()))
		return
	case encoding.TextUnmarshaler:
		if r.Next() == '"' {
			r.fail(x.UnmarshalText(r.bytes()))
			return
		}
		kind = reflect.Invalid
	}
	switch first := r.Next(); {
	case kind == reflect.String && first == '"':
		to.SetString(r.Text())
		return
	case kind == reflect.Struct && first == '{':
		r.read(to)
		return
	case kind == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		r.set(to.Elem())
		return
	}
	raw := r.Raw()
	switch {
	case kind == reflect.Bool && (string(raw) == "true" || string(raw) == "false"):
		to.SetBool(raw[0] == 't')
		return
	case to.CanInt() && isInt(raw):
		if n, err := strconv.ParseInt(string(raw), 10, to.Type().Bits()); err == nil {
			to.SetInt(n)
			return
		}
	case to.CanUint() && isInt(raw):
		if n, err := strconv.ParseUint(string(raw), 10, to.Type().Bits()); err == nil {
			to.SetUint(n)
			return
		}
	}
	r.fail(json.Unmarshal(raw, into))
}
