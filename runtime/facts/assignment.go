package facts

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/luaccm/ccm/runtime/diag"
)

// ParseAssignment parses path=value, as in --fact os.family=debian, and returns a tree with the value at the dotted
// path.
//
// A value that is JSON has the type of JSON: true, null, 3, "x", [1,2], {"a":1}. Any other value is a string, and so
// is a number that JSON would write in another way, such as 1.10 or 1e3, because it may be a version.
func ParseAssignment(text string) (map[string]any, error) {
	path, value, ok := strings.Cut(text, "=")
	if !ok {
		return nil, diag.Expected("PATH=VALUE such as os.family=debian").Got("%q", text)
	}
	names := splitPath(path)
	for _, name := range names {
		if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
			return nil, diag.Expected("a dotted path such as os.family before the =").Got("%q", path)
		}
	}
	val := typed(value)
	for _, name := range slices.Backward(names[1:]) {
		val = map[string]any{name: val}
	}
	return map[string]any{names[0]: val}, nil
}

// typed returns the value that the text of an assignment means.
func typed(text string) any {
	val, err := decodeJSON("", []byte(text))
	if err != nil {
		return text
	}
	switch x := val.(type) {
	case int64:
		if strconv.FormatInt(x, 10) != text {
			return text
		}
	case float64:
		if strconv.FormatFloat(x, 'f', -1, 64) != text {
			return text
		}
	}
	return val
}
