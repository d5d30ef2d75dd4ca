// Package textedit changes single values in JSON, YAML and TOML texts and leaves every other byte unchanged:
// comments, order, layout. A parser finds the position of a value, and only the text there is replaced. Each edit is
// verified before it is returned: the new text is parsed, and must equal the old document with the value changed.
// Otherwise the edit is refused.
package textedit

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	edit "github.com/luaccm/ccm/runtime/textedit/splice"
)

// errPlace is returned for an edit of a valid text that fails the verification.
var errPlace = diag.Cannot("change", "this without changing text around it: edit it by hand, or manage the whole file", nil)

// maxText limits the length of a text in bytes, and maxNesting the nesting of brackets, because the parsers are
// recursive.
const (
	maxText    = 8 << 20
	maxNesting = 1000
)

// A splice replaces a range of bytes.
type splice = edit.Splice

// replace returns a splice of a range.
func replace(from, to int, text string) splice {
	return splice{From: from, To: to, Text: text}
}

// A Format is a document format.
type Format struct {
	// decode parses a text.
	decode func(text string) (*document, error)
	// setter and remove return the splices for an edit. The path was accepted by find.
	setter func(d *document, path Path, value any) ([]splice, error)
	remove func(d *document, path Path) ([]splice, error)
	// split returns the parts of a document, without any if it cannot be split; see splitText.
	split func(d *document) part
	// indents is set if the number of blanks before new lines is that of most lines in the text.
	indents bool
	// limit checks a text that was not parsed as a whole. It may be nil.
	limit  func(text string) error
	latest *latest
}

// A document is a parsed text. It is not changed.
type document struct {
	text string
	// value is nil, bool, int64, float64, string, []any, map[string]any, or json.Number for integers beyond int64. The
	// value of an empty text is nil.
	value any
	json  *hujson.Value // nil if the text is empty
	yaml  *yaml.Node    // nil if the text is empty
}

// latest keeps the document that was parsed last, because many settings are kept in one file: an edit finds the text
// that the one before it has left and proven. A second run with 1,000 settings of one file takes 0.2 s instead of 1.3 s
// with JSON, 5 s with YAML and 2.9 s with TOML.
type latest struct {
	mu    sync.Mutex
	doc   *document
	split *splitText // of another text than doc, or nil
}

// maxKept is the length in bytes of the longest text whose document is kept: one of YAML takes some thirty times as
// much memory.
const maxKept = 1 << 20

// parse decodes a text, unless it is the one that was decoded last.
func (f Format) parse(text string) (*document, error) {
	f.latest.mu.Lock()
	doc := f.latest.doc
	f.latest.mu.Unlock()
	if doc != nil && doc.text == text {
		return doc, nil
	}
	doc, err := f.decode(text)
	if err == nil && len(text) <= maxKept {
		f.latest.mu.Lock()
		f.latest.doc = doc
		f.latest.mu.Unlock()
	}
	return doc, err
}

// The formats. JSON may have comments and trailing commas; YAML must be a single document.
var (
	JSON = Format{decode: decodeJSON, setter: setJSON, remove: removeJSON, split: splitJSON, latest: new(latest)}
	YAML = Format{decode: decodeYAML, setter: setYAML, remove: removeYAML, split: splitYAML, indents: true, latest: new(latest)}
	TOML = Format{
		decode: decodeTOML,
		setter: func(d *document, path Path, value any) ([]splice, error) { return setTOML(d.text, path, value) },
		remove: func(d *document, path Path) ([]splice, error) { return removeTOML(d.text, path) },
		split:  splitTOML,
		limit:  limitTOML,
		latest: new(latest),
	}
)

// Set returns the text with a value set at a path, and the old value, nil if there was none. Missing parts of the
// path become maps, and a byte order mark stays. value is nil, bool, int64, float64, string, []any or map[string]any.
// The text stays as it is if the value is there already; numbers are compared by value, and a date equals its text.
func (f Format) Set(text string, path Path, value any) (after string, old any, err error) {
	mark, text := cutMark(text)
	defer func() { after = mark + after }()
	if err := check(text, path); err != nil {
		return "", nil, err
	}
	if after, old, ok := f.setInPart(text, path, value); ok {
		return after, old, nil
	}
	doc, err := f.parse(text)
	if err != nil {
		return "", nil, err
	}
	if doc, old, err = f.set(doc, path, value); err != nil {
		return "", old, err
	}
	return doc.text, old, nil
}

// set returns the document with a value set at a path, and the old value.
func (f Format) set(doc *document, path Path, value any) (after *document, old any, err error) {
	old, found, err := find(doc.value, path)
	if err != nil {
		return nil, nil, err
	}
	if found && same(old, value) {
		return doc, resolved(old), nil
	}
	if _, isList := old.([]any); isList && same(value, []any{}) {
		value = []any{} // an empty table of Lua
	}
	splices, err := f.setter(doc, path, value)
	if err != nil {
		return nil, nil, err
	}
	after, err = f.proven(doc.text, splices, put(doc.value, path, value))
	return after, resolved(old), err
}

// Remove returns the text without the value at a path, and the removed value. If there is no value, the text stays as
// it is.
func (f Format) Remove(text string, path Path) (after string, old any, err error) {
	mark, text := cutMark(text)
	defer func() { after = mark + after }()
	if err := check(text, path); err != nil {
		return "", nil, err
	}
	doc, err := f.parse(text)
	if err != nil {
		return "", nil, err
	}
	old, found, err := find(doc.value, path)
	if err != nil || !found {
		return text, nil, nil //nolint:nilerr // no value can be below a scalar
	}
	splices, err := f.remove(doc, path)
	if err != nil {
		return "", nil, err
	}
	wants := []any{cut(doc.value, path)}
	for n := len(path) - 1; n > 0; n-- { // removing a.b = 1 in TOML also removes an a that has no other keys
		if rest, _, _ := find(wants[len(wants)-1], path[:n]); !same(rest, map[string]any{}) {
			break
		}
		wants = append(wants, cut(doc.value, path[:n]))
	}
	if doc, err = f.proven(text, splices, wants...); err != nil {
		return "", resolved(old), err
	}
	return doc.text, resolved(old), nil
}

// cutMark splits a text into its byte order mark, "" if it has none, and the rest.
func cutMark(text string) (mark, rest string) {
	if rest, found := strings.CutPrefix(text, "\ufeff"); found {
		return "\ufeff", rest
	}
	return "", text
}

// check checks the limits of an edit.
func check(text string, path Path) error {
	switch {
	case len(path) == 0:
		return diag.Expected("a path of at least one name")
	case len(text) > maxText:
		return diag.Exceeds("text", "%d MiB", maxText>>20)
	case strings.Count(text, "[")+strings.Count(text, "{") > maxNesting && nesting(text) > maxNesting:
		return diag.Exceeds("nesting of brackets", "%d levels", maxNesting)
	}
	return nil
}

// nesting returns the greatest depth of brackets, including those in strings.
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

// proven applies splices and verifies that the value of the new text is one of wants. It returns the new document.
func (f Format) proven(text string, splices []splice, wants ...any) (*document, error) {
	splices = slices.Clone(splices)
	for i := range splices {
		splices[i].Text = edit.WithEndsOf(text, splices[i].Text)
	}
	after, err := edit.Apply(text, splices)
	if err != nil {
		return nil, errPlace
	}
	back, err := f.parse(after)
	if err != nil || !slices.ContainsFunc(wants, func(want any) bool { return same(back.value, want) }) {
		return nil, errPlace
	}
	return back, nil
}

// indentAt returns the indentation of the line around an offset.
func indentAt(text string, at int) string {
	line := text[edit.LineStart(text, at):]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// nested returns a value wrapped in maps for the keys of a path.
func nested(path Path, value any) any {
	for _, name := range slices.Backward(path) {
		value = map[string]any{name: value}
	}
	return value
}

// position returns the position in a list of n items that a step of a path means. n stands for a new item.
func position(step string, n int) (int, bool) {
	i, err := strconv.Atoi(step)
	return i, err == nil && i >= 0 && i <= n && strconv.Itoa(i) == step
}
