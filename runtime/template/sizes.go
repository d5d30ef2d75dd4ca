package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/CloudyKit/jet/v6"
	"github.com/expr-lang/expr/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// The expression library limits neither the length of texts nor of lists. The result of an operator
// or function is at most a few times as long as its operands. So the operands of operators that
// join or copy are counted.

const (
	// maxBytes bounds the texts and lists that are operands in one evaluation.
	maxBytes = 256 << 20
	// maxValues bounds the values in a result. A list that holds the same list twice, and
	// so on, has exponentially many.
	maxValues = 4 << 20
)

var (
	errBytes  = fmt.Errorf("joined strings and lists exceed the limit of %d bytes", maxBytes)
	errValues = fmt.Errorf("template exceeds the limit of %d values", maxValues)
)

// Names of functions that only the compiler writes into expressions.
const (
	textFunc  = "count text"
	valueFunc = "count value"
)

// countValue counts an operand.
func (u *usage) countValue(val any) (any, error) {
	size := 0
	switch v := val.(type) {
	case nil, bool, int, int64, float64:
		return val, nil
	case string:
		size = len(v)
	default:
		if r := reflect.ValueOf(val); r.Kind() == reflect.Slice || r.Kind() == reflect.Array || r.Kind() == reflect.Map || r.Kind() == reflect.String {
			size = 16 * r.Len()
		}
	}
	return val, u.takeBytes(size)
}

// takeBytes counts bytes of operands.
func (u *usage) takeBytes(size int) error {
	if u.bytes += size; u.bytes > maxBytes {
		return errBytes
	}
	if size >= longText {
		return u.checkNow()
	}
	return nil
}

// longText is the length of texts, in bytes, that take so long to make that the
// deadline is checked for each.
const longText = 1 << 20

// countText is countValue for a text.
func (u *usage) countText(s string) (string, error) {
	_, err := u.countValue(s)
	return s, err
}

// boundedFunctions are the library's functions whose results can be much longer than their
// operands. The functions here replace them and have limits.
var boundedFunctions = []string{"repeat", "replace", "join", "toJSON", "string", "flatten", "split", "splitAfter", "fromJSON", "uniq"}

// functions returns the counting functions and the replacements with limits.
func (u *usage) functions() map[string]any {
	return map[string]any{
		textFunc: u.countText, valueFunc: u.countValue, searchedFunc: checkSearched, matchFunc: match,
		"repeat": u.repeat, "replace": u.replace, "join": u.join, "toJSON": u.toJSON, "string": u.str, "flatten": u.flatten,
		scalarFunc: countScalar, listFunc: countList,
		"split": u.split("split", strings.SplitN), "splitAfter": u.split("splitAfter", strings.SplitAfterN), "fromJSON": u.fromJSON, "uniq": u.uniq,
	}
}

// checkRoom returns an error if a text of n parts of size bytes each is too long.
func (u *usage) checkRoom(n, size int) error {
	if size > 0 && n > maxOutput/size {
		return errTooLong
	}
	return u.takeBytes(n * size)
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

func (u *usage) repeat(args ...any) (any, error) {
	list, n, err := texts("repeat", args, 1, 2)
	switch {
	case err != nil:
		return nil, err
	case len(n) == 0 || n[0] < 0:
		return nil, fmt.Errorf("repeat: %w", diag.Expected("a string and a non-negative number"))
	}
	if err := u.checkRoom(n[0], len(list[0])); err != nil {
		return nil, err
	}
	return strings.Repeat(list[0], n[0]), nil
}

func (u *usage) replace(args ...any) (any, error) {
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
	if err := errors.Join(u.checkRoom(1, len(text)), u.checkRoom(found, len(put))); err != nil {
		return nil, err
	}
	return strings.Replace(text, old, put, n), nil
}

func (u *usage) join(args ...any) (any, error) {
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
	if err := u.checkRoom(v.Len(), len(glue)); err != nil {
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
		if err := u.checkRoom(1, len(item)); err != nil {
			return nil, err
		}
		if out.WriteString(item); out.Len() > maxOutput {
			return nil, errTooLong
		}
	}
	return out.String(), nil
}

func (u *usage) toJSON(args ...any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("toJSON: %w", diag.Expected("one value").Got("%d", len(args)))
	}
	if _, err := u.coded(args[0]); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(args[0], "", "  ")
	if err == nil {
		err = u.checkRoom(1, len(text))
	}
	return string(text), err
}

// coded returns a value as plain data that is about to be written as JSON or YAML, which cannot
// be interrupted.
func (u *usage) coded(val any) (any, error) {
	p, err := plain(val)
	if err == nil && textBytes(p) > maxCoded {
		err = fmt.Errorf("strings written as JSON or YAML exceed the limit of %d bytes", maxCoded)
	}
	if err != nil {
		return nil, err
	}
	return p, u.checkNow()
}

// textBytes returns the total length of the texts in plain data.
func textBytes(val any) (n int) {
	switch v := val.(type) {
	case string:
		n = len(v)
	case []any:
		for _, item := range v {
			n += textBytes(item)
		}
	case map[string]any:
		for key, item := range v {
			n += len(key) + textBytes(item)
		}
	}
	return n
}

// marshal returns a value as JSON on one line.
func (u *usage) marshal(val any) ([]byte, error) {
	if _, err := u.coded(val); err != nil {
		return nil, err
	}
	text, err := json.Marshal(val)
	if err == nil {
		err = u.checkRoom(1, len(text))
	}
	return text, err
}

// str is the function string.
func (u *usage) str(args ...any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("string: %w", diag.Expected("one value").Got("%d", len(args)))
	}
	if _, err := plain(args[0]); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%v", args[0])
	return text, u.checkRoom(1, len(text))
}

func (u *usage) flatten(args ...any) (any, error) {
	if len(args) != 1 || !isList(reflect.ValueOf(args[0])) {
		return nil, fmt.Errorf("flatten: %w", diag.Expected("a list"))
	}
	out, left := []any{}, maxValues
	err := flattenInto(&out, reflect.ValueOf(args[0]), &left)
	if err == nil {
		err = u.takeBytes(16 * len(out))
	}
	return out, err
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

// flattenInto appends the items of a list and of its inner lists. Left is the number of values that
// it may visit.
func flattenInto(out *[]any, list reflect.Value, left *int) error {
	for i := range list.Len() {
		if *left--; *left < 0 {
			return errValues
		}
		item := list.Index(i)
		for item.Kind() == reflect.Interface {
			item = item.Elem()
		}
		if !isList(item) {
			*out = append(*out, list.Index(i).Interface())
			continue
		}
		if err := flattenInto(out, item, left); err != nil {
			return err
		}
	}
	return nil
}

// A sizeCounter inserts calls that count the operands of operators that join.
type sizeCounter map[ast.Node]bool

// Visit implements ast.Visitor.
func (s sizeCounter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if n.Operator == "+" {
			s.count(&n.Left)
			s.count(&n.Right)
		}
	case *ast.BuiltinNode:
		switch n.Name {
		case "concat", "upper", "lower", "toBase64", "fromBase64", "reverse", "sort":
			for i := range n.Arguments {
				s.count(&n.Arguments[i])
			}
		}
	}
}

// count inserts a call that counts the value of a node, if that value may be long.
func (s sizeCounter) count(node *ast.Node) {
	n := *node
	if s[n] {
		return
	}
	name := ""
	switch t := n.Type(); {
	case t == nil || t.Kind() == reflect.Interface || t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		name = valueFunc
	case t.Kind() == reflect.String:
		name = textFunc
	}
	switch n.(type) {
	case *ast.StringNode, *ast.ConstantNode, *ast.NilNode:
		name = ""
	}
	if name == "" {
		return
	}
	call := callOf(name, n)
	s[call] = true
	*node = call
}

// countJoined inserts calls that count the operands of + into a Jet template.
func countJoined(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		countJoined(v.Elem())
		if n, ok := v.Interface().(*jet.AdditiveExprNode); ok && v.Kind() == reflect.Pointer && n.Left != nil { // not a sign
			n.Left, n.Right = call(n.NodeBase, sizeFunc, n.Left), call(n.NodeBase, sizeFunc, n.Right)
		}
	case reflect.Slice:
		for i := range v.Len() {
			countJoined(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				countJoined(v.Field(i))
			}
		}
	}
}

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
