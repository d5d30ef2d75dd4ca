package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Kind is the shape of a value or of a property.
type Kind uint8

// The kinds of values.
const (
	Nil Kind = iota
	Bool
	Int
	Float
	String
	List
	Map    // a table with names; for a property, of strings to T
	Ref    // a handle of a resource; its ID is in S
	Text   // text that gets the type of its property (command line)
	Object // of a property: a table with properties of its own
	Any    // for a property: any value
	Opaque // of a value: a value of the front end, in X; a Stringer describes it
	Lazy   // of a value: not known yet; decoding skips it
)

// String returns the name of k for users.
func (k Kind) String() string {
	return [...]string{"nil", "boolean", "integer", "number", "string", "list", "map", "reference", "text", "object", "any", "opaque", "value known later"}[k]
}

// A Value is a property from a front end, before it has a Go type.
type Value struct {
	Kind Kind
	B    bool
	I    int64
	F    float64
	// S is the text of a String, Text or Ref. For any other scalar it is the original notation, if the
	// front end knows that: a string property takes it, so that the version 1.10 and the mode 0644 of
	// a manifest are not numbers.
	S string
	X any // []Value of a List, *Table of a Map, anything of an Opaque
}

// StringValue returns a String.
func StringValue(s string) Value { return Value{Kind: String, S: s} }

// TextValue returns a Text.
func TextValue(s string) Value { return Value{Kind: Text, S: s} }

// BoolValue returns a Bool.
func BoolValue(b bool) Value { return Value{Kind: Bool, B: b} }

// IntValue returns an Int.
func IntValue(i int64) Value { return Value{Kind: Int, I: i} }

// NumberValue returns an Int if f is whole and fits, and else a Float.
func NumberValue(f float64) Value {
	if i := int64(f); float64(i) == f {
		return IntValue(i)
	}
	return Value{Kind: Float, F: f}
}

// ListValue returns a List.
func ListValue(items ...Value) Value { return Value{Kind: List, X: items} }

// Append returns a list with the items of list, which may also be a single text, and then those of
// more. If list or more is neither, it returns list unchanged.
func Append(list, more Value) Value {
	for _, v := range []*Value{&list, &more} {
		switch {
		case v.Kind == String || v.Kind == Text:
			*v = ListValue(*v)
		case v.Kind == Map && len(v.Table().Entries) == 0: // an empty Lua table
			*v = ListValue()
		case v.Kind != List:
			return list
		}
	}
	return ListValue(slices.Concat(list.Items(), more.Items())...)
}

// MapValue returns a Map.
func MapValue(t *Table) Value { return Value{Kind: Map, X: t} }

// Items returns the items of a List, nil for anything else.
func (v Value) Items() []Value { items, _ := v.X.([]Value); return items }

// Table returns the table of a Map, nil for anything else.
func (v Value) Table() *Table { t, _ := v.X.(*Table); return t }

// Go returns v as plain data: nil, bool, int64, float64, string, []any or map[string]any. A number in another notation
// than that of ccm is text: the version 1.10, the mode 0644.
func (v Value) Go() any {
	switch v.Kind {
	case Bool:
		return v.B
	case Int:
		if v.S == "" || v.S == strconv.FormatInt(v.I, 10) {
			return v.I
		}
		return v.S
	case Float:
		if v.S == "" || v.S == strconv.FormatFloat(v.F, 'f', -1, 64) {
			return v.F
		}
		return v.S
	case String, Text, Ref:
		return v.S
	case List:
		out := make([]any, len(v.Items()))
		for i, e := range v.Items() {
			out[i] = e.Go()
		}
		return out
	case Map:
		out := make(map[string]any, len(v.Table().Entries))
		for _, e := range v.Table().Entries {
			out[e.Key] = e.Val.Go()
		}
		return out
	case Opaque:
		return v.X
	}
	return nil
}

// describe describes v for "want ..., got ...".
func (v Value) describe() string {
	switch v.Kind {
	case Nil:
		return "nothing"
	case Bool:
		return "the boolean " + strconv.FormatBool(v.B)
	case Int:
		return "the number " + cmp.Or(v.S, strconv.FormatInt(v.I, 10))
	case Float:
		return "the number " + cmp.Or(v.S, strconv.FormatFloat(v.F, 'g', -1, 64))
	case String, Text:
		if len(v.S) > 60 {
			return fmt.Sprintf("a string of %d bytes", len(v.S))
		}
		return strconv.Quote(v.S)
	case Ref:
		return v.S
	case List:
		return "a list"
	case Map:
		return "a table"
	case Lazy:
		return "a value that is known later"
	}
	if x, ok := v.X.(fmt.Stringer); ok {
		return x.String()
	}
	return fmt.Sprintf("%T", v.X)
}

// text returns v as the value of a property that is a text.
func (v Value) text() (string, bool) {
	if v.Kind == String || v.Kind == Text || v.Kind == Ref {
		return v.S, true
	}
	return v.S, v.S != "" && v.Kind != List && v.Kind != Map && v.Kind != Opaque
}

// scalarText returns the text of a boolean, or of an integer that has only one usual notation.
func (v Value) scalarText() (string, bool) {
	switch {
	case v.Kind == Bool:
		return strconv.FormatBool(v.B), true
	case v.Kind == Int && v.I > -1e15 && v.I < 1e15:
		return strconv.FormatInt(v.I, 10), true
	}
	return "", false
}

// A Numeral is an Opaque: a number in a notation, such as 0644 or 1e15, that leaves open which text it represents.
type Numeral string

// String returns the numeral for messages.
func (n Numeral) String() string { return "the number " + string(n) }

// An Entry is one named value.
type Entry struct {
	Key string
	Val Value
}

// A Table is named values in the order they were written.
type Table struct {
	Entries []Entry
	// Positions finds the places of the entries; nil if nobody knows.
	Positions Locator
}

// Get returns the value of that name.
func (t *Table) Get(key string) (Value, bool) {
	for i := range t.Entries {
		if t.Entries[i].Key == key {
			return t.Entries[i].Val, true
		}
	}
	return Value{}, false
}

// Set adds or replaces one value.
func (t *Table) Set(key string, v Value) {
	for i := range t.Entries {
		if t.Entries[i].Key == key {
			t.Entries[i].Val = v
			return
		}
	}
	t.Entries = append(t.Entries, Entry{key, v})
}

// A Path leads from a table to one of its values: names (string) and, in
// lists, positions (int, from 0).
type Path []any

// String formats p for users: control.if, subscribe[2] (from 1).
func (p Path) String() string {
	s := ""
	for _, step := range p {
		switch step := step.(type) {
		case int:
			s += fmt.Sprintf("[%d]", step+1)
		default:
			if s != "" {
				s += "."
			}
			s += fmt.Sprint(step)
		}
	}
	return s
}

// A Locator finds the places of a table's values. Front ends keep the necessary data and look for a
// place only when a message needs it.
type Locator interface {
	// Locate returns the place of the value at path, or of its name if key is set. The empty path is
	// the table itself. If a place is unknown, it returns the place of the nearest surrounding value.
	Locate(path Path, key bool) diag.Pos
}

// FixedPosition is a Locator that returns the same position for every path.
type FixedPosition diag.Pos

// Locate implements Locator.
func (a FixedPosition) Locate(Path, bool) diag.Pos { return diag.Pos(a) }

// Locate returns the place of the value at path below t.
func (t *Table) Locate(path Path, key bool) diag.Pos {
	if t.Positions == nil {
		return diag.Pos{}
	}
	return t.Positions.Locate(path, key)
}
