// Package textedit changes single values in texts of JSON, YAML and TOML and leaves every
// other byte as it is: comments, order, layout. A parser says where values stand, and the text
// is changed there; no document is printed again. Each edit is proven before it is returned: the
// new text is read again, and has to hold what the old one held, with the value changed.
// Otherwise it is refused.
package textedit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	edit "github.com/luaccm/ccm/runtime/textedit/splice"
)

// errPlace is why an edit is refused although the text is sound.
var errPlace = errors.New("this cannot be changed without changing what is around it: edit the text by hand, or manage the whole file")

// maxText is how long a text can be, and maxNesting how deep brackets in it can be nested:
// parsers call themselves for each.
const (
	maxText    = 8 << 20
	maxNesting = 1000
)

// A splice replaces the bytes of a text from one offset to another.
type splice = edit.Splice

// replace returns the splice that puts a text in the place of some bytes.
func replace(from, to int, text string) splice {
	return splice{From: from, To: to, Text: text}
}

// A Format is a syntax of documents.
type Format struct {
	// decode returns what a text holds: nil, bool, int64, float64, string, []any and
	// map[string]any, and json.Number for integers beyond int64. An empty text holds nil.
	decode func(text string) (any, error)
	// setter and remove return how a text is changed. The path leads through maps and lists
	// that are there, as far as anything is.
	setter func(text string, path Path, value any) ([]splice, error)
	remove func(text string, path Path) ([]splice, error)
	isYAML bool
}

// The formats. JSON may have comments and trailing commas; a text of YAML is one document.
var (
	JSON = Format{decode: decodeJSON, setter: setJSON, remove: removeJSON}
	YAML = Format{decode: decodeYAML, setter: setYAML, remove: removeYAML, isYAML: true}
	TOML = Format{decode: decodeTOML, setter: setTOML, remove: removeTOML}
)

// Set returns the text with a value at a path, and what it held there, nil if there was nothing.
// What the path lacks is made as maps. A value is nil, bool, int64, float64, string, []any or
// map[string]any. Numbers are the same if they are equal, and a date is the same as its text.
func (f Format) Set(text string, path Path, value any) (after string, old any, err error) {
	doc, err := f.read(text, path)
	if err != nil {
		return "", nil, err
	}
	old, found, err := find(doc, path)
	if err != nil {
		return "", nil, err
	}
	if found && same(old, value) {
		return text, resolved(old), nil
	}
	splices, err := f.setter(text, path, value)
	if err != nil {
		return "", nil, err
	}
	after, err = f.proven(text, splices, put(doc, path, value))
	return after, resolved(old), err
}

// Remove returns the text without what is at a path, and what it held there. If nothing is
// there the text stays as it is.
func (f Format) Remove(text string, path Path) (after string, old any, err error) {
	doc, err := f.read(text, path)
	if err != nil {
		return "", nil, err
	}
	old, found, err := find(doc, path)
	if err != nil || !found {
		return text, nil, nil //nolint:nilerr // behind a value that holds nothing there is nothing
	}
	splices, err := f.remove(text, path)
	if err != nil {
		return "", nil, err
	}
	wants := []any{cut(doc, path)}
	for n := len(path) - 1; n > 0; n-- { // a.b = 1 of TOML takes an a along that holds nothing else
		if rest, _, _ := find(wants[len(wants)-1], path[:n]); !same(rest, map[string]any{}) {
			break
		}
		wants = append(wants, cut(doc, path[:n]))
	}
	after, err = f.proven(text, splices, wants...)
	return after, resolved(old), err
}

// read decodes a text that is to be edited.
func (f Format) read(text string, path Path) (any, error) {
	switch {
	case len(path) == 0:
		return nil, errors.New("want a path of one name at least")
	case len(text) > maxText:
		return nil, fmt.Errorf("the text is longer than %d MiB", maxText>>20)
	case nesting(text) > maxNesting:
		return nil, fmt.Errorf("brackets are nested more than %d deep", maxNesting)
	}
	return f.decode(text)
}

// nesting returns how deep brackets are nested at most, also those that stand in strings.
func nesting(text string) (deepest int) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// proven applies splices and checks that the text then holds one of the things that are wanted.
func (f Format) proven(text string, splices []splice, wants ...any) (string, error) {
	splices = slices.Clone(splices)
	for i := range splices {
		splices[i].Text = edit.WithEndsOf(text, splices[i].Text)
	}
	after, err := edit.Apply(text, splices)
	if err != nil {
		return "", errPlace
	}
	back, err := f.decode(after)
	if err != nil || !slices.ContainsFunc(wants, func(want any) bool { return same(back, want) }) {
		return "", errPlace
	}
	return after, nil
}

// indentAt returns the blanks that the line begins with in which an offset is.
func indentAt(text string, at int) string {
	line := text[edit.LineStart(text, at):]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// nested returns a value with the names of a path around it.
func nested(path Path, value any) any {
	for _, name := range slices.Backward(path) {
		value = map[string]any{name: value}
	}
	return value
}

// position returns the position in a list of n items that a step of a path means. One that is n
// is behind the last.
func position(step string, n int) (int, bool) {
	i, err := strconv.Atoi(step)
	return i, err == nil && i >= 0 && i <= n && strconv.Itoa(i) == step
}
