package template

import (
	"fmt"
	"reflect"
	"strings"
	gotemplate "text/template"

	"github.com/CloudyKit/jet/v6"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A TextFunction is a text function of templates. Jet templates pass the value first, as in value |
// join: ", "; templates of Go pass it last, as in .value | join ", ".
type TextFunction struct {
	Name string
	// Low and High are the least and the greatest number of arguments, with the value.
	Low, High int
	// Call gets the value first.
	Call func(args []any) (any, error)
}

// Default is the name of the function that returns its second argument if the value is missing or
// empty. An undefined value is no mistake there.
const Default = "default"

// TextFunctions returns the additional functions for templates of Jet and Go.
func TextFunctions() []TextFunction {
	return []TextFunction{
		{Default, 2, 2, func(args []any) (any, error) {
			if isEmpty(args[0]) {
				return args[1], nil
			}
			return args[0], nil
		}},
		{"indent", 2, 2, func(args []any) (any, error) { return indent(args) }},
		{"join", 1, 2, func(args []any) (any, error) { return joinAny(args) }},
		{"lower", 1, 1, func(args []any) (any, error) { return textOf("lower", args[0], strings.ToLower) }},
		{"to_json", 1, 1, func(args []any) (any, error) {
			text, err := marshal(args[0])
			return string(text), err
		}},
		{"to_yaml", 1, 1, func(args []any) (any, error) { return toYAML(args[0]) }},
		{"upper", 1, 1, func(args []any) (any, error) { return textOf("upper", args[0], strings.ToUpper) }},
	}
}

// isEmpty reports whether a value is missing, "", false, 0, or an empty list or table.
func isEmpty(val any) bool {
	v := reflect.ValueOf(val)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	}
	return v.IsZero()
}

func textOf(name string, val any, change func(string) string) (string, error) {
	s, ok := val.(string)
	if !ok {
		return "", fmt.Errorf("%s: %w", name, diag.Expected("a text").Got("%s", describe(val)))
	}
	return change(s), nil
}

// indent puts spaces before every line of a text but empty ones.
func indent(args []any) (string, error) {
	s, n, err := repeated("indent", args)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(s, "\n")
	if n < 0 || n > 1000 {
		return "", fmt.Errorf("indent: %w", diag.MustBe("0 to 1000 spaces").Got("%d", n))
	}
	if err := tooLong(1, len(s)+n*len(lines)); err != nil {
		return "", err
	}
	margin := strings.Repeat(" ", n)
	for i, line := range lines {
		if strings.TrimRight(line, "\n") != "" {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, ""), nil
}

// joinAny is join for a list of texts, numbers and booleans.
func joinAny(args []any) (any, error) {
	list := reflect.ValueOf(args[0])
	if !isList(list) {
		return nil, fmt.Errorf("join: %w", diag.Expected("a list").Got("%s", describe(args[0])))
	}
	items := make([]any, list.Len())
	for i := range items {
		val, err := plain(list.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		switch x := val.(type) {
		case string:
			items[i] = x
		case bool, int64, float64:
			items[i], _ = inText(x)
			if b, ok := x.(bool); ok {
				items[i] = fmt.Sprint(b)
			}
		default:
			return nil, fmt.Errorf("join: %w", diag.Expected("a list of texts and numbers").Got("%s in it", describe(val)))
		}
	}
	return join(append([]any{items}, args[1:]...)...)
}

// toYAML returns a value as YAML, without a line break at its end.
func toYAML(val any) (string, error) {
	p, err := plain(val)
	if err != nil {
		return "", err
	}
	text, err := data.EncodeValue(schema.ValueOf(p))
	if err == nil {
		err = tooLong(1, len(text))
	}
	return strings.TrimSuffix(text, "\n"), err
}

// check returns an error if a call has too few arguments or too many.
func (f TextFunction) check(n int) error {
	switch {
	case n >= f.Low && n <= f.High:
		return nil
	case f.Low == f.High:
		return fmt.Errorf("%s: %w", f.Name, diag.Expected("%d values", f.Low).Got("%d", n))
	}
	return fmt.Errorf("%s: %w", f.Name, diag.Expected("%d or %d values", f.Low, f.High).Got("%d", n))
}

// JetFunctions returns the text functions for Jet, and the functions that ask servers.
func (e *Env) JetFunctions() map[string]jet.Func {
	funcs := e.jetRemote()
	for _, f := range TextFunctions() {
		funcs[f.Name] = func(a jet.Arguments) reflect.Value {
			if err := f.check(a.NumOfArguments()); err != nil {
				panic(err)
			}
			args := make([]any, a.NumOfArguments())
			for i := range args {
				if f.Name == Default && i == 0 && !a.IsSet(i) {
					continue
				}
				v := a.Get(i)
				if f.Name == Default && i == 0 {
					v = opened(v)
				}
				if v.IsValid() {
					args[i] = v.Interface()
				}
			}
			val, err := f.Call(args)
			if err != nil {
				panic(err)
			}
			return reflect.ValueOf(val)
		}
	}
	return funcs
}

// GoFunctions returns the text functions for text/template: they get the value last, for use in a
// pipeline. It returns the functions that ask servers, too.
func (e *Env) GoFunctions() gotemplate.FuncMap {
	funcs := make(gotemplate.FuncMap)
	for name, f := range e.remoteFunctions() {
		funcs[name] = func(args ...any) (any, error) { return f(args) }
	}
	for _, f := range TextFunctions() {
		funcs[f.Name] = func(args ...any) (any, error) {
			if err := f.check(len(args)); err != nil {
				return nil, err
			}
			last := len(args) - 1
			return f.Call(append([]any{args[last]}, args[:last]...))
		}
	}
	return funcs
}
