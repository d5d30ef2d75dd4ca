package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/luaccm/ccm/runtime/diag"
)

// boundedFunctions are the library's functions whose results can be so much longer than their arguments that one call
// takes all memory, or whose time grows with the square of their arguments. The functions here replace them.
var boundedFunctions = []string{"repeat", "replace", "join", "toJSON", "string", "uniq"}

// functions returns the replacements.
func functions() map[string]any {
	return map[string]any{"repeat": repeat, "replace": replace, "join": join, "toJSON": toJSON, "string": toText, "uniq": uniq}
}

// texts returns the first n arguments of a function, which must be texts, and the
// others as numbers.
func texts(name string, args []any, n, most int) (list []string, numbers []int, err error) {
	if len(args) < n || len(args) > most {
		return nil, nil, fmt.Errorf("%s: %w", name, diag.Expected("%d to %d values", n, most).Got("%d", len(args)))
	}
	for i, arg := range args {
		val, err := plain(arg)
		if err != nil {
			return nil, nil, err
		}
		if f, ok := val.(float64); ok {
			val = int64(f)
		}
		switch v := val.(type) {
		case string:
			if i < n {
				list = append(list, v)
				continue
			}
		case int64:
			if i >= n {
				numbers = append(numbers, int(v))
				continue
			}
		}
		want := "a text"
		if i >= n {
			want = "a number"
		}
		return nil, nil, fmt.Errorf("%s: %w", name, diag.Expected("%s", want).Got("%s", describe(val)))
	}
	return list, numbers, nil
}

func repeat(args ...any) (any, error) {
	list, n, err := texts("repeat", args, 1, 2)
	switch {
	case err != nil:
		return nil, err
	case len(n) == 0 || n[0] < 0:
		return nil, fmt.Errorf("repeat: %w", diag.Expected("a string and a non-negative number"))
	}
	if err := tooLong(n[0], len(list[0])); err != nil {
		return nil, err
	}
	return strings.Repeat(list[0], n[0]), nil
}

func replace(args ...any) (any, error) {
	list, limit, err := texts("replace", args, 3, 4)
	if err != nil {
		return nil, err
	}
	text, old, put, n := list[0], list[1], list[2], -1
	found := strings.Count(text, old)
	if len(limit) > 0 && limit[0] >= 0 {
		n = limit[0]
		found = min(found, n)
	}
	if err := tooLong(found, len(put)); err != nil {
		return nil, err
	}
	return strings.Replace(text, old, put, n), nil
}

func join(args ...any) (any, error) {
	glue := ""
	if len(args) > 1 {
		list, _, err := texts("join", args[1:], 1, 1)
		if err != nil {
			return nil, err
		}
		glue = list[0]
	}
	var v reflect.Value
	if len(args) > 0 {
		v = reflect.ValueOf(args[0])
	}
	if !isList(v) {
		return nil, fmt.Errorf("join: %w", diag.Expected("a list of strings and an optional separator"))
	}
	if err := tooLong(v.Len(), len(glue)); err != nil {
		return nil, err
	}
	var out strings.Builder
	for i := range v.Len() {
		item, ok := v.Index(i).Interface().(string)
		if !ok {
			return nil, fmt.Errorf("join: %w", diag.Expected("a list of texts").Got("%s in it", describe(v.Index(i).Interface())))
		}
		if i > 0 {
			out.WriteString(glue)
		}
		if out.WriteString(item); out.Len() > maxOutput {
			return nil, errTooLong
		}
	}
	return out.String(), nil
}

func toJSON(args ...any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("toJSON: %w", diag.Expected("one value").Got("%d", len(args)))
	}
	if _, err := plain(args[0]); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(args[0], "", "  ")
	if err == nil {
		err = tooLong(1, len(text))
	}
	return string(text), err
}

// marshal returns a value as JSON on one line.
func marshal(val any) ([]byte, error) {
	if _, err := plain(val); err != nil {
		return nil, err
	}
	text, err := json.Marshal(val)
	if err == nil {
		err = tooLong(1, len(text))
	}
	return text, err
}

// toText is the function string.
func toText(args ...any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("string: %w", diag.Expected("one value").Got("%d", len(args)))
	}
	if _, err := plain(args[0]); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%v", args[0])
	return text, tooLong(1, len(text))
}

// uniq returns the first of all equal values of a list. Only values of the same hash are compared: 8,000 numbers take
// 1 ms, and 2 s if each is compared with all before it.
func uniq(args ...any) (any, error) {
	if len(args) != 1 || !isList(reflect.ValueOf(args[0])) {
		return nil, fmt.Errorf("uniq: %w", diag.Expected("a list"))
	}
	v, kept, alike, seed := reflect.ValueOf(args[0]), []any{}, make(map[uint64][]any), maphash.MakeSeed()
	for i := range v.Len() {
		val := v.Index(i).Interface()
		h := hashOf(seed, v.Index(i))
		if !slices.ContainsFunc(alike[h], func(x any) bool { return runtime.Equal(val, x) }) {
			kept, alike[h] = append(kept, val), append(alike[h], val)
		}
	}
	return kept, nil
}

// hashOf returns a number that is the same for equal values. Numbers of different types may be equal.
func hashOf(seed maphash.Seed, v reflect.Value) uint64 {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	h := uint64(v.Kind())
	switch {
	case v.Kind() == reflect.String:
		h = maphash.String(seed, v.String())
	case v.Kind() == reflect.Bool:
		h = maphash.Comparable(seed, v.Bool())
	case v.CanInt():
		h = maphash.Comparable(seed, float64(v.Int()))
	case v.CanUint():
		h = maphash.Comparable(seed, float64(v.Uint()))
	case v.CanFloat():
		h = maphash.Comparable(seed, v.Float())
	case isList(v):
		for i := range v.Len() {
			h = h*31 + hashOf(seed, v.Index(i))
		}
	case v.Kind() == reflect.Map:
		for iter := v.MapRange(); iter.Next(); {
			h += hashOf(seed, iter.Key())*31 ^ hashOf(seed, iter.Value())
		}
	}
	return h
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

// An output collects the text of a Jet template. Jet ignores errors of writing, so it
// panics when the text is too long.
type output struct{ bytes.Buffer }

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.checkRoom(len(p))
	return o.Buffer.Write(p)
}

// WriteString implements io.StringWriter.
func (o *output) WriteString(s string) (int, error) {
	o.checkRoom(len(s))
	return o.Buffer.WriteString(s)
}

func (o *output) checkRoom(n int) {
	if o.Len()+n > maxOutput {
		panic(errTooLong)
	}
}
