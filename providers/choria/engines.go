package choria

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/CloudyKit/jet/v6"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// variables returns the top-level variables of templates. Templates can change tables, so they
// get copies. Paths are the paths into data that the templates name.
func variables(env Env, paths [][]string) (map[string]any, error) {
	data, err := env.openData(paths)
	facts := copied(env.Facts)
	return map[string]any{"facts": facts, "Facts": facts, "data": data, "Data": data}, err
}

// copied returns a deep copy of plain data.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = copied(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = copied(x)
		}
		return out
	}
	return v
}

// sortedKeys and sortedValues replace functions of Sprig with a random order.
func sortedKeys(tables ...map[string]any) []string {
	keys := []string{}
	for _, t := range tables {
		keys = append(keys, slices.Sorted(maps.Keys(t))...)
	}
	return keys
}

func sortedValues(t map[string]any) []any {
	values := make([]any, 0, len(t))
	for _, k := range slices.Sorted(maps.Keys(t)) {
		values = append(values, t[k])
	}
	return values
}

// Functions by which Jet templates get what the library does not give them: variables, and tables
// in order.
const (
	treeFunc   = "ccmTree"
	sortedFunc = "ccmSorted"
	deepFunc   = "ccmDeep" // fails where templates call themselves without end
)

// maxFrames is the largest depth of calls. Go ends a program that exceeds its stack, and that
// cannot be caught.
const maxFrames = 10_000

var errTooDeep = diag.TooMany("nested templates and blocks: does one call itself?")

// deep is deepFunc for Go templates.
func deep() (string, error) {
	if tooDeep() {
		return "", errTooDeep
	}
	return "", nil
}

func tooDeep() bool { return runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 }

// escaped returns a text escaped for the replacement of a regular expression.
func escaped(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// prepare returns the text of a template for the engine. The library gives Jet templates only the
// dot. The code inserted at their beginning, on the first line, counts their nesting and defines
// facts and data as variables. range over a table gets its keys in order, as in Go templates, so
// that the same input gives the same output.
func prepare(want resources.Scaffold, text []byte) []byte {
	left, right := delimiters(want)
	var buf bytes.Buffer
	if want.Engine != resources.ScaffoldJet {
		// Only the counter is inserted into Go templates.
		fmt.Fprintf(&buf, "%s %s %s%s", left, deepFunc, right, text)
		return buf.Bytes()
	}
	for _, name := range []string{"facts", "Facts", "data", "Data"} {
		fmt.Fprintf(&buf, "%s%s := %s(%q) %s", left, name, treeFunc, name, right)
	}
	fmt.Fprintf(&buf, "%s %s() %s", left, deepFunc, right)
	blocks := regexp.MustCompile(`(?s)(` + regexp.QuoteMeta(left) + `-?\s*block\s.+?)(\s-)?(` + regexp.QuoteMeta(right) + `)`)
	text = blocks.ReplaceAll(text, []byte("${1}${2}${3}"+escaped(left)+" "+deepFunc+"() ${2}${3}"))
	ranges := regexp.MustCompile(`(?s)(` + regexp.QuoteMeta(left) + `-?\s*range\s+(?:\w+\s*(?:,\s*\w+\s*)?:?=\s*)?)(.+?)(\s*-?` + regexp.QuoteMeta(right) + `)`)
	buf.Write(ranges.ReplaceAll(text, []byte("${1}"+sortedFunc+"(${2}) ${3}")))
	return buf.Bytes()
}

// warnOfDelims warns of a file with Jet's usual delimiters when others are set: nothing in it is
// replaced.
func warnOfDelims(v *host.View, want resources.Scaffold, rel string, text []byte) {
	left, _ := delimiters(want)
	if want.LeftDelimiter == "" && bytes.Contains(text, []byte("{{")) && !bytes.Contains(text, []byte(left)) {
		v.Log().Warn("template contains {{ but no [[, so nothing in it is rendered (use [[ ]], or set left_delimiter)", "file", filepath.Join(want.Source, rel))
	}
}

// jetFuncs returns the functions of Jet templates.
func jetFuncs(env Env, vars map[string]any) map[string]jet.Func {
	funcs := map[string]jet.Func{
		"lookup": func(a jet.Arguments) reflect.Value {
			a.RequireNumOfArguments("lookup", 1, 2)
			var path string
			if v := a.Get(0); v.IsValid() {
				path, _ = v.Interface().(string)
			}
			if path == "" {
				a.Panicf("lookup: %w", diag.Expected("a path such as facts.os.family"))
			}
			var fallback []any
			if a.NumOfArguments() == 2 {
				var x any
				if v := a.Get(1); v.IsValid() {
					x = v.Interface()
				}
				fallback = []any{x}
			}
			val, err := env.lookup(path, fallback...)
			if err != nil {
				a.Panicf("lookup: %v", err)
			}
			return reflect.ValueOf(val)
		},
		treeFunc: func(a jet.Arguments) reflect.Value {
			return reflect.ValueOf(vars[a.Get(0).String()])
		},
		deepFunc: func(a jet.Arguments) reflect.Value {
			if tooDeep() {
				a.Panicf("%v", errTooDeep)
			}
			return reflect.ValueOf("")
		},
		sortedFunc: func(a jet.Arguments) reflect.Value { return inOrder(a.Get(0)) },
	}
	maps.Copy(funcs, env.JetFunctions)
	return funcs
}

// inOrder returns v in a form over which Jet ranges in a fixed order.
func inOrder(v reflect.Value) reflect.Value {
	table := v
	for table.Kind() == reflect.Interface && !table.IsNil() {
		table = table.Elem()
	}
	if table.Kind() != reflect.Map {
		return v
	}
	keys := table.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return reflect.ValueOf(&tableRanger{table, keys})
}

// A tableRanger ranges over a table in the order of its keys.
type tableRanger struct {
	table reflect.Value
	keys  []reflect.Value
}

var _ jet.Ranger = (*tableRanger)(nil)

// Range implements jet.Ranger.
func (r *tableRanger) Range() (key, val reflect.Value, end bool) {
	if len(r.keys) == 0 {
		return key, val, true
	}
	key, r.keys = r.keys[0], r.keys[1:]
	return key, r.table.MapIndex(key), false
}

// ProvidesIndex implements jet.Ranger.
func (*tableRanger) ProvidesIndex() bool { return true }
