package facts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// ParseAssignment reads path=value, as in --fact os.family=debian, and returns
// a tree that holds the value at the dotted path.
//
// A value that is JSON is what JSON says: true, null, 3, "x", [1,2],
// {"a":1}. Anything else is text as it stands. So is a number that would not be
// written back the same, such as 1.10 or 1e3: versions stay what they are.
func ParseAssignment(text string) (map[string]any, error) {
	path, value, ok := strings.Cut(text, "=")
	if !ok {
		return nil, fmt.Errorf("want PATH=VALUE such as os.family=debian, got %q", text)
	}
	names := splitPath(path)
	for _, name := range names {
		if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
			return nil, fmt.Errorf("want a dotted path such as os.family before the =, got %q", path)
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
