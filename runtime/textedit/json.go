package textedit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/luaccm/ccm/runtime/diag"
)

// decodeJSON decodes JSON with comments and trailing commas.
func decodeJSON(text string) (*document, error) {
	if strings.TrimSpace(text) == "" {
		return &document{text: text}, nil
	}
	root, err := hujson.Parse([]byte(text + "\n")) // the newline ends a comment at the end of the text
	if err != nil {
		return nil, diag.Not("", "valid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return &document{text: text, value: valueJSON(&root), json: &root}, nil
}

// valueJSON returns the plain value. Of several members with one name, the last one counts.
func valueJSON(v *hujson.Value) any {
	switch v := v.Value.(type) {
	case *hujson.Object:
		m := make(map[string]any, len(v.Members))
		for i := range v.Members {
			m[textJSON(v.Members[i].Name.Value.(hujson.Literal))] = valueJSON(&v.Members[i].Value)
		}
		return m
	case *hujson.Array:
		list := make([]any, len(v.Elements))
		for i := range v.Elements {
			list[i] = valueJSON(&v.Elements[i])
		}
		return list
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			return textJSON(v)
		case 't', 'f':
			return v.Bool()
		case '0':
			return plain(json.Number(v))
		}
	}
	return nil
}

// textJSON returns the text of a string literal.
func textJSON(v hujson.Literal) string {
	if bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) {
		return string(v[1 : len(v)-1])
	}
	return v.String()
}

// An element is a member of an object or an item of a list.
type element struct {
	name, value *hujson.Value // name is nil in a list
	start       int           // offset of its first byte
	before      string        // white space and comments before it
}

// elementsOf returns the members of an object or the items of a list.
func elementsOf(v *hujson.Value) (list []element) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			m := &c.Members[i]
			list = append(list, element{&m.Name, &m.Value, m.Name.StartOffset, string(m.Name.BeforeExtra)})
		}
	case *hujson.Array:
		for i := range c.Elements {
			e := &c.Elements[i]
			list = append(list, element{nil, e, e.StartOffset, string(e.BeforeExtra)})
		}
	}
	return list
}

// reachJSON follows a path as far as it exists. It returns the last value with its container and position, and the
// rest of the path.
func reachJSON(root *hujson.Value, path Path) (v, parent *hujson.Value, i int, rest Path, err error) {
	v = root
	for n, step := range path {
		list := elementsOf(v)
		next := -1
		if v.Value.Kind() == '[' {
			if next, _ = position(step, len(list)); next == len(list) {
				next = -1
			}
		} else {
			for k, e := range list {
				if lit, ok := e.name.Value.(hujson.Literal); ok && textJSON(lit) == step {
					if next >= 0 {
						return nil, nil, 0, nil, diag.Duplicate("%s", at(path, n+1))
					}
					next = k
				}
			}
		}
		if next < 0 {
			return v, parent, i, path[n:], nil
		}
		v, parent, i = list[next].value, v, next
	}
	return v, parent, i, nil, nil
}

func setJSON(d *document, path Path, value any) ([]splice, error) {
	text := d.text
	if d.json == nil {
		return []splice{replace(0, len(text), jsonText(nested(path, value), "", "  ")+"\n")}, nil
	}
	v, _, _, rest, err := reachJSON(d.json, path)
	if err != nil {
		return nil, err
	}
	unit := jsonUnit(d.json)
	if kind := v.Value.Kind(); len(rest) > 0 && (kind == '{' || kind == '[') {
		name := &rest[0]
		if kind == '[' {
			name = nil
		}
		return addJSON(text, v, name, nested(rest[1:], value), unit), nil
	}
	if len(elementsOf(v)) > 0 && !strings.Contains(text[v.StartOffset:v.EndOffset], "\n") {
		unit = "" // a list or object on one line stays on one line
	}
	return []splice{replace(v.StartOffset, v.EndOffset, jsonText(nested(rest, value), indentAt(text, v.StartOffset), unit))}, nil
}

// jsonUnit returns the indentation step of a document, "" if it is on one line.
func jsonUnit(root *hujson.Value) string {
	list := elementsOf(root)
	if len(list) == 0 {
		return "  "
	}
	_, unit, _ := strings.Cut(list[0].before, "\n")
	return unit[strings.LastIndexByte(unit, '\n')+1:]
}

// jsonText returns a value as JSON: indented by unit after indent, or on one line if unit is "".
func jsonText(value any, indent, unit string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if unit != "" {
		enc.SetIndent(indent, unit)
	}
	if err := enc.Encode(value); err != nil {
		return "" // the verification refuses the edit
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// addJSON appends a member to an object, or an item to a list.
func addJSON(text string, v *hujson.Value, name *string, value any, unit string) []splice {
	list, closing := elementsOf(v), v.EndOffset-1
	member := func(indent, colon string) string {
		if name == nil {
			return jsonText(value, indent, unit)
		}
		return jsonText(*name, "", "") + colon + jsonText(value, indent, unit)
	}
	if len(list) == 0 {
		base := indentAt(text, v.StartOffset)
		from := v.StartOffset + 1 + len(strings.TrimRight(text[v.StartOffset+1:closing], " \t\r\n"))
		if unit == "" && !strings.Contains(text[v.StartOffset:closing], "\n") {
			return []splice{replace(from, closing, member("", ":"))}
		}
		unit = cmp.Or(unit, "  ")
		return []splice{replace(from, closing, "\n"+base+unit+member(base+unit, ": ")+"\n"+base)}
	}
	last := list[len(list)-1]
	end, comma := last.value.EndOffset, last.value.AfterExtra != nil
	colon := ""
	if last.name != nil {
		colon = string(last.name.AfterExtra) + ":" + string(last.value.BeforeExtra)
		if strings.TrimSpace(colon) != ":" {
			colon = ": "
		}
	}
	feed := strings.LastIndexByte(last.before, '\n')
	if feed < 0 { // on one line
		between := last.before
		if len(list) == 1 || strings.TrimSpace(between) != "" {
			between = " "
			if colon == ":" {
				between = ""
			}
		}
		unit = ""
		return []splice{replace(end, end, ","+between+member("", colon))}
	}
	indent := last.before[feed+1:]
	tail := end + len(strings.TrimRight(text[end:closing], " \t\r\n"))
	switch {
	case comma:
		return []splice{replace(tail, tail, "\n"+indent+member(indent, colon)+",")}
	case tail == end:
		return []splice{replace(end, end, ",\n"+indent+member(indent, colon))}
	}
	return []splice{replace(end, end, ","), replace(tail, tail, "\n"+indent+member(indent, colon))}
}

func removeJSON(d *document, path Path) ([]splice, error) {
	text := d.text
	v, parent, i, rest, err := reachJSON(d.json, path)
	if err != nil || len(rest) > 0 || parent == nil {
		return nil, errors.Join(err, errPlace)
	}
	list, closing := elementsOf(parent), parent.EndOffset-1
	from, to := list[i].start, v.EndOffset
	comma := to + len(v.AfterExtra) // offset of the comma, if there is one
	isLast := i == len(list)-1
	inner := text[parent.StartOffset+1:from] + text[to:closing]
	switch feed := strings.LastIndexByte(list[i].before, '\n'); {
	case len(list) == 1 && strings.Trim(inner, " \t\r\n,") == "":
		return []splice{replace(parent.StartOffset+1, closing, "")}, nil
	case feed < 0 && !isLast:
		return []splice{replace(from, list[i+1].start, "")}, nil
	case feed < 0 && i > 0:
		return []splice{replace(list[i-1].value.EndOffset, to, "")}, nil
	case feed >= 0:
		from += feed - len(list[i].before) // the newline before it
		from -= len(text[:from]) - len(strings.TrimSuffix(text[:from], "\r"))
	}
	hasComma := !isLast || v.AfterExtra != nil
	if hasComma {
		to = comma + 1
	}
	// A comment behind it on its line belongs to it.
	rest2 := text[to:closing]
	if feed := strings.IndexByte(rest2, '\n'); feed >= 0 && (strings.HasPrefix(strings.TrimLeft(rest2, " \t"), "//") || strings.TrimSpace(rest2[:feed]) == "") {
		to += len(strings.TrimSuffix(rest2[:feed], "\r"))
	}
	lineEnd := ""
	if feed := strings.LastIndexByte(list[i].before, '\n'); feed >= 0 && !strings.HasPrefix(strings.TrimPrefix(text[to:], "\r"), "\n") {
		if line := list[i].before[:feed]; strings.Contains(line[strings.LastIndexByte(line, '\n')+1:], "//") {
			lineEnd = "\n" // of the comment before it
		}
	}
	splices := []splice{replace(from, to, lineEnd)}
	if isLast && !hasComma && i > 0 { // the element before it becomes the last and needs no comma
		prev := list[i-1].value
		at := prev.EndOffset + len(prev.AfterExtra)
		splices = append(splices, replace(at, at+1, ""))
	}
	return splices, nil
}
