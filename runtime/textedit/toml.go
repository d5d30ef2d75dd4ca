package textedit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	edit "github.com/luaccm/ccm/runtime/textedit/splice"
)

// maxItems limits the keys and tables of a TOML text: the time of the decoder grows with their square.
const maxItems = 20_000

func limitTOML(text string) error {
	if strings.Count(text, "=")+strings.Count(text, "[")+strings.Count(text, ".") > maxItems {
		return diag.Exceeds("text", "%d keys, tables and lists", maxItems)
	}
	return nil
}

func decodeTOML(text string) (*document, error) {
	if err := limitTOML(text); err != nil {
		return nil, err
	}
	var v map[string]any
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, col := at.Position()
			return nil, diag.Not("", "valid TOML: line %d, column %d: %s", line, col,
				strings.TrimPrefix(err.Error(), "toml: "))
		}
		return nil, diag.Not("", "valid TOML: %w", err)
	}
	return &document{text: text, value: plain(v)}, nil
}

// A tomlItem is a table header, or a key with its value.
type tomlItem struct {
	path     Path // path in the document, with positions in lists of tables
	header   bool
	list     bool // header of an item in a list of tables
	inline   bool // in an inline table
	section  int  // index of the header of its table, -1 at the top
	from, to int  // range of bytes; for a header, of its line
	value    int  // offset of the value
}

// tomlItems returns all headers and keys of a text in order. The keys of an inline table follow its own key.
func tomlItems(text string) ([]tomlItem, error) {
	var items []tomlItem
	count := make(map[string]int) // items in lists of tables, by path
	p := unstable.Parser{}
	p.Reset([]byte(text))
	section, table := -1, Path(nil)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.KeyValue {
			items = addKey(items, text, e, table, section, false)
			continue
		}
		it := tomlItem{header: true, list: e.Kind == unstable.ArrayTable, section: -1}
		var names []string
		first := -1
		for k := e.Key(); k.Next(); {
			if names = append(names, string(k.Node().Data)); first < 0 {
				first = int(k.Node().Raw.Offset)
			}
		}
		for i, name := range names {
			it.path = append(it.path, name)
			key := it.path.String()
			switch n, ok := count[key]; {
			case i == len(names)-1 && it.list:
				it.path = append(it.path, strconv.Itoa(n))
				count[key] = n + 1
			case ok:
				it.path = append(it.path, strconv.Itoa(n-1))
			}
		}
		it.from, it.to = edit.LineStart(text, first), edit.LineEnd(text, first)
		section, table = len(items), it.path
		items = append(items, it)
	}
	return items, p.Error()
}

// addKey adds a key and, if its value is an inline table, the keys in it.
func addKey(items []tomlItem, text string, e *unstable.Node, table Path, section int, inline bool) []tomlItem {
	it := tomlItem{path: slices.Clone(table), section: section, inline: inline, from: int(e.Raw.Offset), to: int(e.Raw.Offset + e.Raw.Length)}
	for k := e.Key(); k.Next(); {
		it.path = append(it.path, string(k.Node().Data))
		it.value = int(k.Node().Raw.Offset + k.Node().Raw.Length)
	}
	for it.value < it.to && strings.IndexByte(" \t=", text[it.value]) >= 0 {
		it.value++
	}
	items = append(items, it)
	if v := e.Value(); v.Kind == unstable.InlineTable {
		for c := v.Children(); c.Next(); {
			items = addKey(items, text, c.Node(), it.path, section, true)
		}
	}
	return items
}

// below reports whether a path is equal to other or leads into it.
func (p Path) below(other Path) bool {
	return len(p) >= len(other) && slices.Equal(p[:len(other)], other)
}

func setTOML(text string, path Path, value any) ([]splice, error) {
	items, err := tomlItems(text)
	if err != nil {
		return nil, err
	}
	written, err := tomlText(value)
	if err != nil {
		return nil, err
	}
	header, sibling, common := -1, -1, -1
	for i, it := range items {
		switch {
		case it.header && it.path.below(path), !it.header && it.path.below(path) && len(it.path) > len(path):
			return nil, diag.OfKind(path.String(), "a table section, which cannot be replaced: set the keys in it")
		case !it.header && slices.Equal(it.path, path):
			return []splice{replace(it.value, it.to, written)}, nil
		case it.header && path.below(it.path) && (header < 0 || len(it.path) > len(items[header].path)):
			header = i
		}
	}
	for i, it := range slices.Backward(items) { // the innermost inline table comes first
		if n, isItem := itemOf(text, it, path); isItem {
			return setItem(text, it, n, written), nil
		}
		if !it.header && path.below(it.path) {
			return addInline(text, items, i, path, written)
		}
	}
	if path = slices.Clone(path); header >= 0 {
		common = len(items[header].path)
	} else {
		common = 0
	}
	for i, it := range items { // a.b goes beside a.a
		n := 0
		for n < min(len(it.path), len(path))-1 && it.path[n] == path[n] {
			n++
		}
		if !it.header && !it.inline && path.below(sectionPath(items, it.section)) && (n > common || n == common && sibling >= 0 && items[sibling].section == it.section && n > len(sectionPath(items, it.section))) {
			sibling, common = i, n
		}
	}
	if sibling >= 0 {
		key := tomlKey(path[len(sectionPath(items, items[sibling].section)):])
		return []splice{behind(text, items[sibling].to, indentAt(text, items[sibling].from)+key+" = "+written)}, nil
	}
	rest := path[common:]
	m, isMap := value.(map[string]any)
	if len(rest) == 1 && !isMap {
		return []splice{addLine(text, items, header, tomlKey(rest)+" = "+written)}, nil
	}
	lines := ""
	if isMap && len(m) > 0 {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			v, err := tomlText(m[k])
			if err != nil {
				return nil, err
			}
			lines += "\n" + tomlKey(Path{k}) + " = " + v
		}
	} else if !isMap {
		lines, path = "\n"+tomlKey(path[len(path)-1:])+" = "+written, path[:len(path)-1]
	}
	lines = "[" + tomlKey(names(items, path)) + "]" + lines
	end := len(strings.TrimRight(text, " \t\r\n"))
	if header >= 0 { // behind the subtables of the table around it
		for _, it := range items {
			if it.path.below(items[header].path) {
				end = len(strings.TrimRight(text[:it.to], " \t\r\n"))
			}
		}
	}
	if end == 0 {
		return []splice{replace(0, len(text), lines+"\n")}, nil
	}
	s := behind(text, end, lines)
	s.Text = strings.Replace(s.Text, lines, "\n"+lines, 1)
	return []splice{s}, nil
}

// names returns a path without positions in lists of tables.
func names(items []tomlItem, path Path) (out Path) {
	for i, step := range path {
		isPosition := slices.ContainsFunc(items, func(it tomlItem) bool { return it.list && len(it.path) == i+1 && slices.Equal(it.path, path[:i+1]) })
		if !isPosition {
			out = append(out, step)
		}
	}
	return out
}

// sectionPath returns the path of the table that a header begins.
func sectionPath(items []tomlItem, section int) Path {
	if section < 0 {
		return nil
	}
	return items[section].path
}

// behind inserts a line after the one around an offset.
func behind(text string, at int, line string) splice {
	end := edit.LineEnd(text, at)
	if end > 0 && text[end-1] == '\n' {
		return replace(end, end, line+"\n")
	}
	return replace(end, end, "\n"+line)
}

// addLine inserts a line in the table of a header, after its last key.
func addLine(text string, items []tomlItem, header int, line string) splice {
	last := -1
	for i, it := range items {
		if !it.header && !it.inline && it.section == header {
			last = i
		}
	}
	switch {
	case last >= 0:
		return behind(text, items[last].to, indentAt(text, items[last].from)+line)
	case header >= 0:
		return behind(text, items[header].from, indentAt(text, items[header].from)+line)
	case len(items) == 0 && strings.TrimSpace(text) == "":
		return replace(0, len(text), line+"\n")
	case len(items) == 0:
		return behind(text, len(strings.TrimRight(text, " \t\r\n")), line)
	}
	from := items[0].from // before the first header and the comments directly above it
	for from > 0 {
		up := edit.LineStart(text, from-1)
		if !strings.HasPrefix(strings.TrimSpace(text[up:from]), "#") {
			break
		}
		from = up
	}
	return replace(from, from, line+"\n\n")
}

// addInline inserts a key in the inline table of an item.
func addInline(text string, items []tomlItem, i int, path Path, written string) ([]splice, error) {
	it := items[i]
	if text[it.value] != '{' {
		return nil, diag.OfKind(it.path.String(), "a list: set it as a whole")
	}
	pair := tomlKey(path[len(it.path):]) + " = " + written
	last := -1
	for n := i + 1; n < len(items) && items[n].inline && items[n].path.below(it.path); n++ {
		if items[n].to > last {
			last = items[n].to
		}
	}
	if last < 0 {
		return []splice{replace(it.value, it.to, "{ "+pair+" }")}, nil
	}
	return []splice{replace(last, last, ", "+pair)}, nil
}

func removeTOML(text string, path Path) ([]splice, error) {
	items, err := tomlItems(text)
	if err != nil {
		return nil, err
	}
	var list []splice
	for i, it := range items {
		if n, isItem := itemOf(text, it, path); isItem {
			return removeItem(text, it, n), nil
		}
		switch {
		case !it.path.below(path), len(list) > 0 && list[len(list)-1].To >= it.to:
		case it.inline:
			list = append(list, inlinePart(text, items, i))
		case it.header: // with all lines up to its last key
			to := it.to
			for _, key := range items[i+1:] {
				if !key.header && key.section == i {
					to = edit.LineEnd(text, key.to)
				}
			}
			if from := it.from; strings.HasSuffix(text[:from], "\n\n") && (to == len(text) || text[to] == '\n') {
				list = append(list, replace(from-1, to, ""))
			} else {
				list = append(list, replace(from, to, ""))
			}
		default:
			list = append(list, replace(edit.LineStart(text, it.from), edit.LineEnd(text, it.to), ""))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w (set the list as a whole)", diag.OfKind(path.String(), "a part of a list"))
	}
	if parent := path[:len(path)-1]; isTable(items, path) && !isTable(items, append(slices.Clone(parent), "1")) {
		return emptyList(text, list, parent)
	}
	return list, nil
}

// isTable reports whether a path is that of an item in a list of tables.
func isTable(items []tomlItem, path Path) bool {
	return slices.ContainsFunc(items, func(it tomlItem) bool { return it.list && slices.Equal(it.path, path) })
}

// emptyList returns the splice that applies splices, which remove the only table of a list, and writes the empty list,
// which has no header.
func emptyList(text string, splices []splice, list Path) ([]splice, error) {
	after, err := edit.Apply(text, splices)
	if err != nil {
		return nil, err
	}
	splices, err = setTOML(after, list, []any{})
	if err == nil {
		after, err = edit.Apply(after, splices)
	}
	return []splice{replace(0, len(text), after)}, err
}

// inlinePart returns the splice that removes a key from an inline table, with the comma behind it or before it.
func inlinePart(text string, items []tomlItem, i int) splice {
	from, to := items[i].from, items[i].to
	rest := strings.TrimLeft(text[to:], " \t\r\n")
	if strings.HasPrefix(rest, ",") {
		rest = strings.TrimLeft(rest[1:], " \t")
		return replace(from, len(text)-len(rest), "")
	}
	before := strings.TrimRight(text[:from], " \t\r\n")
	if strings.HasSuffix(before, ",") {
		return replace(len(before)-1, to, "")
	}
	return replace(from, to+len(text[to:])-len(strings.TrimLeft(text[to:], " ")), "")
}

var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// tomlKey returns a path as a dotted key.
func tomlKey(path Path) string {
	parts := make([]string, len(path))
	for i, name := range path {
		if parts[i] = name; !bareKey().MatchString(name) {
			parts[i] = tomlString(name)
		}
	}
	return strings.Join(parts, ".")
}

// tomlString returns a basic string of TOML, whose escapes are those of JSON.
func tomlString(s string) string {
	return strings.ReplaceAll(jsonText(s, "", ""), "\x7f", `\u007f`)
}

// tomlText returns a value as TOML on one line.
func tomlText(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", diag.Not("null", "supported in TOML")
	case string:
		return tomlString(v), nil
	case float64:
		return tomlFloat(v), nil
	case json.Number:
		return v.String(), nil
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			var err error
			if parts[i], err = tomlText(e); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case map[string]any:
		if len(v) == 0 {
			return "{}", nil
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			text, err := tomlText(v[k])
			if err != nil {
				return "", err
			}
			parts = append(parts, tomlKey(Path{k})+" = "+text)
		}
		return "{ " + strings.Join(parts, ", ") + " }", nil
	}
	return fmt.Sprint(value), nil
}

func tomlFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
