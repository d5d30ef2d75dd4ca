package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// boundedFunctions are the library's functions whose results can be so much longer than their arguments that one call
// takes all memory. The functions here replace them: they look at the size first.
var boundedFunctions = []string{"repeat", "replace", "join", "toJSON", "string"}

// functions returns the replacements.
func functions() map[string]any {
	return map[string]any{"repeat": repeat, "replace": replace, "join": join, "toJSON": toJSON, "string": toText}
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
