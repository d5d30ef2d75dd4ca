package template

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
)

// Expand returns text with its expressions evaluated: the value of the
// expression if it is the whole text, and otherwise a string. Only space may
// surround an expression that gives a list or a table. Errors are of type
// [*Error].
func (e *Env) Expand(text string) (any, error) {
	if !HasExpression(text) {
		return text, nil
	}
	spans, err := scan(text)
	if err != nil {
		return nil, err
	}
	if len(spans) == 1 && spans[0].begin == 0 && spans[0].end == len(text) {
		return e.value(spans[0])
	}
	var b strings.Builder
	done := 0
	for _, s := range spans {
		val, err := e.value(s)
		if err != nil {
			return nil, err
		}
		b.WriteString(text[done:s.begin])
		done = s.end
		put, err := inText(val)
		if err != nil {
			if len(spans) == 1 && val != nil && strings.TrimSpace(text) == text[s.begin:s.end] {
				return val, nil
			}
			return nil, &Error{Offset: s.begin, Length: s.end - s.begin, Err: asDiag(err)}
		}
		b.WriteString(put)
	}
	b.WriteString(text[done:])
	return b.String(), nil
}

// ExpandEach is like Expand, and returns a string for a single expression too. It reports whether text
// has no expression, or one with a value that is neither nil nor empty.
func (e *Env) ExpandEach(text string) (string, bool, error) {
	spans, err := scan(text)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	done, given := 0, len(spans) == 0
	for _, s := range spans {
		val, err := e.value(s)
		if err != nil {
			return "", false, err
		}
		put := ""
		if val != nil {
			if put, err = inText(val); err != nil {
				return "", false, &Error{Offset: s.begin, Length: s.end - s.begin, Err: asDiag(err)}
			}
		}
		given = given || put != ""
		b.WriteString(text[done:s.begin])
		b.WriteString(put)
		done = s.end
	}
	b.WriteString(text[done:])
	return b.String(), given, nil
}

// value evaluates one expression of a text.
func (e *Env) value(s span) (any, error) {
	val, err := e.Evaluate(s.code)
	if err != nil {
		if te, ok := errors.AsType[*Error](err); ok {
			c := *te
			c.Offset += s.at
			return nil, &c
		}
		return nil, &Error{Offset: s.at, Length: len(s.code), Err: asDiag(err)}
	}
	return val, nil
}

// Condition evaluates a text as a condition: an expression, with or without ${ } around it.
func (e *Env) Condition(text string) (bool, error) {
	if text == "true" || text == "false" {
		return text == "true", nil
	}
	at, code := 0, text
	if spans, err := scan(text); err == nil && len(spans) == 1 && strings.TrimSpace(text) == text[spans[0].begin:spans[0].end] {
		at, code = spans[0].at, spans[0].code
	}
	val, err := e.value(span{at: at, code: code})
	if err != nil {
		return false, err
	}
	b, ok := val.(bool)
	if !ok {
		return false, &Error{Offset: at, Length: len(code), Err: diag.At(diag.Pos{}, diag.Expected("true or false").Got("%s", describe(val)))}
	}
	return b, nil
}

// inText returns a value in the form in which texts insert it.
func inText(val any) (string, error) {
	switch x := val.(type) {
	case string:
		return x, nil
	case bool:
		return strconv.FormatBool(x), nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return "", diag.At(diag.Pos{}, diag.Expected("a number for the text").Got("%v, as of a division by zero", x))
		}
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	case nil:
		return "", diag.At(diag.Pos{}, diag.Expected("a value for the text").Got("nothing")).WithHint("add a default with ??")
	}
	return "", diag.At(diag.Pos{}, diag.Expected("a string or number for the text").Got("%s", describe(val))).WithHint("use join or toJSON")
}

// ExpandText is like Expand, and returns a string for a single expression too. A list, a table and nil are errors there.
func (e *Env) ExpandText(text string) (string, error) {
	val, err := e.Expand(text)
	if err != nil {
		return "", err
	}
	put, err := inText(val)
	if err != nil {
		return "", &Error{Length: len(text), Err: asDiag(err)}
	}
	return put, nil
}

// CheckPrinted returns an error if a template must not print a value as it is: Go would print a list as [a b] and a
// table as map[a:b].
func CheckPrinted(val any) error {
	switch v := reflect.ValueOf(val); v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		if _, isText := val.([]byte); !isText {
			return diag.Expected("a string or number to print").Got("%s (use join or to_json, or print its parts)", describe(val))
		}
	}
	return nil
}

// Printf is fmt.Sprintf. What fmt writes in place of a value that does not fit the format is an error.
func Printf(format string, args ...any) (string, error) {
	text := fmt.Sprintf(format, args...)
	at := strings.Index(text, "%!")
	if at < 0 || strings.Contains(format+fmt.Sprint(args...), "%!") {
		return text, nil
	}
	return "", fmt.Errorf("values do not match format %q: %s", format, text[at:min(len(text), at+60)])
}

// SaysNil reports whether an expression ends in the word nil, and so expects nil.
func SaysNil(code string) bool {
	code = strings.TrimRight(code, " \t\n)")
	rest, ok := strings.CutSuffix(code, "nil")
	return ok && strings.TrimRight(rest, " \t\n?:,(") != rest || code == "nil"
}

// describe describes a value for "want ..., got ...".
func describe(val any) string {
	if p, err := plain(val); err == nil {
		val = p
	}
	switch x := val.(type) {
	case nil:
		return "nothing"
	case string:
		if len(x) > 60 {
			return fmt.Sprintf("a text of %d bytes", len(x))
		}
		return strconv.Quote(x)
	case bool:
		return "the boolean " + strconv.FormatBool(x)
	case int64, float64:
		s, _ := inText(x)
		return "the number " + s
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%T", val)
}

// plain returns a value of an expression as plain data.
func plain(val any) (any, error) {
	left := maxValues
	return plainDepth(val, &left)
}

// A Plainer is a value of Go whose fields and methods templates can use, and which is plain data
// where a value is needed.
type Plainer interface{ Plain() any }

// plainDepth is plain for a value in which no more than so many others may be.
func plainDepth(val any, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, errValues
	}
	switch x := val.(type) {
	case nil, bool, string, int64, float64:
		return x, nil
	case int:
		return int64(x), nil
	case Plainer:
		return plainDepth(x.Plain(), left)
	case time.Time:
		return x.Format(time.RFC3339), nil
	case *data.SealedValue:
		return x.Text()
	case fmt.Stringer:
		return x.String(), nil
	case []byte:
		return string(x), nil
	}
	v := reflect.ValueOf(val)
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > 1<<63-1 {
			return nil, diag.Too(strconv.FormatUint(v.Uint(), 10), "large")
		}
		return int64(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			item, err := plainDepth(v.Index(i).Interface(), left)
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		return list, nil
	case reflect.Map:
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			item, err := plainDepth(it.Value().Interface(), left)
			if err != nil {
				return nil, err
			}
			m[fmt.Sprint(it.Key().Interface())] = item
		}
		return m, nil
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return plainDepth(v.Elem().Interface(), left)
	}
	return nil, diag.Expected("a value").Got("a %s", v.Kind())
}
