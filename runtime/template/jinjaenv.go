package template

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/nikolalohinski/gonja/v2"
	controls "github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// environment returns the environment of the template: the filters, tests, methods and functions of
// the library, within limits.
func (r *rendering) environment() *exec.Environment {
	env := *gonja.DefaultEnvironment
	structures := exec.NewControlStructureSet(map[string]parser.ControlStructureParser{beginTag: r.parseBegin}).Update(env.ControlStructures)
	set, _ := structures.Get("set")
	_ = structures.Replace("set", func(p, args *parser.Parser) (nodes.ControlStructure, error) {
		if args.Current(tokens.Name) != nil && args.Peek(tokens.Comma) != nil {
			return parseUnpacking(args)
		}
		return set(p, args)
	})
	macro, _ := structures.Get("macro")
	_ = structures.Replace("macro", func(p, args *parser.Parser) (nodes.ControlStructure, error) {
		n, err := macro(p, args)
		if m, ok := n.(*controls.MacroControlStructure); ok && err == nil {
			r.instrument(m) // of an imported template only macros are executed
		}
		return n, err
	})
	all := env.Context
	env.ControlStructures = structures
	env.Context = exec.EmptyContext().Update(all).Update(exec.NewContext(r.watchers()))
	env.Context.Set("none", nil)
	if f, ok := all.Get("range"); ok {
		numbers, _ := f.(func(*exec.Evaluator, *exec.VarArgs) (<-chan int, error))
		env.Context.Set("range", func(e *exec.Evaluator, params *exec.VarArgs) (<-chan int, error) {
			if err := checkRange(params.Args); err != nil {
				return nil, exec.ErrInvalidCall(err)
			}
			return numbers(e, params)
		})
	}
	if f, ok := all.Get("lipsum"); ok {
		words, _ := f.(func(*exec.Evaluator, *exec.VarArgs) *exec.Value)
		env.Context.Set("lipsum", func(e *exec.Evaluator, params *exec.VarArgs) *exec.Value {
			r.before("lipsum", exec.AsValue(""), params)
			return words(e, params)
		})
	}
	env.Filters = exec.NewFilterSet(map[string]exec.FilterFunction{}).Update(env.Filters)
	for name, filter := range r.pythonFilters(env.Filters) {
		_ = env.Filters.Replace(name, filter)
	}
	for _, name := range names(env.Filters, "filters") {
		filter, _ := env.Filters.Get(name)
		_ = env.Filters.Replace(name, func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
			r.before(name, in, params)
			return filter(e, in, params)
		})
	}
	env.Methods.Str = boundedMethods(r, env.Methods.Str)
	return &env
}

// names returns the names in a set of the library, which has no list of them. Field is the set's
// field with the names.
func names(set any, field string) (names []string) {
	for _, key := range reflect.ValueOf(set).Elem().FieldByName(field).MapKeys() {
		names = append(names, key.String())
	}
	return names
}

// boundedMethods returns methods within limits.
func boundedMethods[T any](r *rendering, set *exec.MethodSet[T]) *exec.MethodSet[T] {
	methods := make(map[string]exec.Method[T])
	for _, name := range names(set, "methods") {
		method, _ := set.Get(name)
		methods[name] = func(self T, value *exec.Value, params *exec.VarArgs) (any, error) {
			r.before(name, value, params)
			return method(self, value, params)
		}
	}
	return exec.NewMethodSet(methods)
}

// before checks the input of a filter, test or method: the result must not become excessively
// large.
func (r *rendering) before(name string, in *exec.Value, params *exec.VarArgs) {
	r.step()
	r.whole(in)
	longest, most := 0, 0
	for _, arg := range arguments(params) {
		r.whole(arg)
		switch {
		case arg.IsString():
			longest = max(longest, len(arg.String()))
		case arg.IsInteger():
			most = max(most, arg.Integer())
		}
	}
	if name == "join" || name == "tojson" || name == "string" {
		r.written(in) // ends the rendering if there is an unknown name in a list
	}
	switch name {
	case "center", "ljust", "rjust", "zfill", "expandtabs", "indent", "batch", "slice", "tojson", "lipsum":
		if most > maxWidth {
			r.throw(fmt.Errorf("%s: %w", name, diag.MustBe("at most %d", maxWidth).Got("%d", most)))
		}
	case "format", "format_map":
		if in.IsString() && wide().MatchString(in.String()) || most > maxWidth && strings.Count(in.String(), "{") > strings.Count(in.String(), "}{")+1 {
			r.throw(fmt.Errorf("%s: %w", name, diag.Expected("widths of at most %d", maxWidth)))
		}
	case "replace":
		found := r.size(in) + 1
		if len(params.Args) > 0 && params.Args[0].IsString() {
			found = strings.Count(in.String(), params.Args[0].String())
		}
		r.checkRoom(found, longest)
	case "join":
		if in.IsString() && len(params.Args) > 0 { // as a method of the separator
			r.checkRoom(items(params.Args[0]), r.size(in))
			return
		}
		r.checkRoom(items(in), longest)
	}
}

// items returns the number of items that a value has or may have.
func items(v *exec.Value) int {
	if v.Val.Kind() == reflect.Chan {
		return maxRange
	}
	return v.Len()
}

// wide finds widths of format in a text.
var wide = lazyregexp.New(`[0-9]{5,}`)

func arguments(params *exec.VarArgs) []*exec.Value {
	list := params.Args[:len(params.Args):len(params.Args)]
	for _, v := range params.KwArgs {
		list = append(list, v)
	}
	return list
}

// whole ends the rendering if a value cannot be written: a value that contains itself, or too many
// values because lists contain one another twice.
func (r *rendering) whole(v *exec.Value) {
	if v == nil || v.IsError() || v.IsString() || v.IsNumber() {
		return
	}
	left := maxValues
	if !countInto(reflect.ValueOf(v), &left, 0) {
		r.throw(errValues)
	}
}

// maxHeld is the maximum depth of values inside one another. The library's own values make most
// levels twice as deep.
const maxHeld = 2000

// countInto subtracts the number of values in v from left, and reports whether enough were left.
func countInto(v reflect.Value, left *int, depth int) bool {
	if *left--; *left < 0 || depth > maxHeld {
		return false
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return v.IsNil() || countInto(v.Elem(), left, depth+1)
	case reflect.Struct:
		if held, ok := v.Interface().(exec.Value); ok {
			return countInto(held.Val, left, depth+1)
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !countInto(v.Field(i), left, depth+1) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Map:
		default:
			return true
		}
		for i := range v.Len() {
			if !countInto(v.Index(i), left, depth+1) {
				return false
			}
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			if !countInto(i.Value(), left, depth+1) {
				return false
			}
		}
	}
	return true
}

// size returns the approximate number of bytes of a text or list.
func (r *rendering) size(v *exec.Value) int {
	switch {
	case v.IsString():
		return len(v.String())
	case v.IsList() || v.IsDict():
		return 16 * v.Len()
	}
	return 0
}
