package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/luaccm/ccm/runtime/diag"
)

// Functions of the expression library that make many values of one text, that compare each
// value with each, or that go through a text as if it were a list. The ones here have limits.

// maxScalar is the maximum length, in bytes, of a text that is parsed as a number, a date or a
// duration: the library quotes invalid ones, more than once.
const maxScalar = 64 << 10

// Names of functions that only the compiler writes into expressions.
const (
	scalarFunc = "count scalar"
	listFunc   = "count list"
)

// A partBound inserts calls that bound the arguments of functions.
type partBound map[ast.Node]bool

// Visit implements ast.Visitor.
func (b partBound) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BuiltinNode)
	if !ok || b[n] {
		return
	}
	b[n] = true
	switch n.Name {
	case "int", "float", "date", "duration", "timezone":
		for i, arg := range n.Arguments {
			if _, ok := arg.(*ast.StringNode); !ok {
				n.Arguments[i] = callOf(scalarFunc, arg)
			}
		}
	case "sum", "count":
		if len(n.Arguments) == 1 {
			n.Arguments[0] = callOf(listFunc, n.Arguments[0])
		}
	}
}

// countScalar limits texts that are parsed as a number or time.
func countScalar(val any) (any, error) {
	if s, ok := val.(string); ok && len(s) > maxScalar {
		return nil, diag.Expected("a number or a time").Got("a text of %d bytes", len(s))
	}
	return val, nil
}

// countList refuses values other than lists: the library would iterate over the bytes of a text.
func countList(val any) (any, error) {
	if v := reflect.ValueOf(val); !isList(v) && v.Kind() != reflect.Map {
		return nil, diag.Expected("a list").Got("%s", describe(val))
	}
	return val, nil
}

// split returns split or splitAfter.
func (u *usage) split(name string, cut func(text, separator string, n int) []string) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		list, limit, err := texts(name, args, 2, 3)
		if err != nil {
			return nil, err
		}
		n := -1
		if len(limit) > 0 {
			n = limit[0]
		}
		parts := strings.Count(list[0], list[1]) + 1
		if n >= 0 {
			parts = min(parts, n)
		}
		if err := errors.Join(u.takeBytes(len(list[0])), u.checkRoom(parts, 16)); err != nil {
			return nil, err
		}
		return cut(list[0], list[1], n), nil
	}
}

// fromJSON limits the values before it makes them: a value takes many times the memory of its text.
func (u *usage) fromJSON(args ...any) (any, error) {
	list, _, err := texts("fromJSON", args, 1, 1)
	if err != nil {
		return nil, err
	}
	marks := 0
	for _, c := range []byte(list[0]) {
		switch c {
		case ',', ':', '[', '{':
			marks++
		}
	}
	if marks > maxValues {
		return nil, errValues
	}
	if err := u.takeBytes(len(list[0]) + 16*marks); err != nil {
		return nil, err
	}
	var val any
	err = json.Unmarshal([]byte(list[0]), &val)
	return val, err
}

// uniq finds equal texts and numbers with a map. It compares other values one by one, and counts
// each comparison as a step.
func (u *usage) uniq(args ...any) (any, error) {
	if len(args) != 1 || !isList(reflect.ValueOf(args[0])) {
		return nil, fmt.Errorf("uniq: %w", diag.Expected("a list"))
	}
	list := reflect.ValueOf(args[0])
	if err := u.takeBytes(16 * list.Len()); err != nil {
		return nil, err
	}
	out, seen := []any{}, make(map[any]bool)
	var others []any
	for i := range list.Len() {
		if i%checkEvery == 0 {
			if err := u.checkNow(); err != nil {
				return nil, err
			}
		}
		val := list.Index(i).Interface()
		key, ok := scalarKey(val)
		if ok && !seen[key] {
			seen[key] = true
			out = append(out, val)
		}
		if ok {
			continue
		}
		same := false
		for _, o := range others {
			if err := u.step(); err != nil {
				return nil, err
			}
			if same = runtime.Equal(val, o); same {
				break
			}
		}
		if !same {
			others, out = append(others, val), append(out, val)
		}
	}
	return out, nil
}

// scalarKey returns a key that is the same for equal texts, numbers and booleans.
func scalarKey(val any) (key any, ok bool) {
	switch v := val.(type) {
	case nil, bool, string:
		return v, true
	case float64:
		return v, v == v // NaN is not equal to itself
	}
	v := reflect.ValueOf(val)
	if v.CanInt() {
		if n := v.Int(); n != int64(float64(n)) {
			return n, true
		}
		return float64(v.Int()), true
	}
	return nil, false
}
