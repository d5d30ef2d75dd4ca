package textedit

import (
	"strings"

	"github.com/tailscale/hujson"
	"gopkg.in/yaml.v3"

	edit "github.com/luaccm/ccm/runtime/textedit/splice"
)

// A span is a range of a text with a key, for a part.
type span struct {
	key      string
	from, to int
}

// isSplit reports whether spans are the parts of a map: there are some, one behind the other, and no key twice.
func isSplit(spans []span) bool {
	known := make(map[string]bool, len(spans))
	for i, s := range spans {
		if known[s.key] || s.to <= s.from || i > 0 && s.from < spans[i-1].to {
			return false
		}
		known[s.key] = true
	}
	return len(spans) > 0
}

// splitJSON splits objects whose members begin on lines of their own.
func splitJSON(d *document) part {
	if d.json == nil || strings.Contains(d.text, "\r") {
		return part{head: d.text}
	}
	return objectParts(d.text, d.json, span{to: len(d.text)})
}

// objectParts splits a range of the text with the value of its key.
func objectParts(text string, v *hujson.Value, in span) part {
	object, isObject := v.Value.(*hujson.Object)
	var spans []span
	for i := 0; isObject && i < len(object.Members); i++ {
		name := object.Members[i].Name
		from := name.StartOffset - len(name.BeforeExtra)
		if !strings.Contains(text[from:name.StartOffset], "\n") {
			return part{key: in.key, head: text[in.from:in.to]}
		}
		if i > 0 {
			spans[i-1].to = from
		}
		spans = append(spans, span{textJSON(name.Value.(hujson.Literal)), from, v.EndOffset - 1 - len(object.AfterExtra)})
	}
	return newPart(text, in, spans, func(i int) part { return objectParts(text, &object.Members[i].Value, spans[i]) })
}

// newPart returns the part of a range that has others, which below returns, or a part without any.
func newPart(text string, in span, spans []span, below func(i int) part) part {
	if !isSplit(spans) {
		return part{key: in.key, head: text[in.from:in.to]}
	}
	p := part{key: in.key, head: text[in.from:spans[0].from], tail: text[spans[len(spans)-1].to:in.to]}
	for i := range spans {
		p.parts = append(p.parts, below(i))
	}
	return p
}

// splitYAML splits block maps, unless one part may depend on another: by an alias, or by the line ends of the text.
func splitYAML(d *document) part {
	if d.yaml == nil || strings.Contains(d.text, "\r") || !isPlainYAML(d.yaml) {
		return part{head: d.text}
	}
	return mapParts(newYAML(d), d.yaml.Content[0], span{to: len(d.text)})
}

// mapParts splits a range of the text with the value of its key.
func mapParts(d yamlDocument, n *yaml.Node, in span) part {
	var spans []span
	if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 {
		for i := 0; i < len(n.Content); i += 2 {
			start := d.Span(n.Content[i]).Start
			from := edit.LineStart(d.Text.Text, start)
			if from < in.from || in.key != "" && from == in.from || strings.Trim(d.Text.Text[from:start], " ") != "" {
				return part{key: in.key, head: d.Text.Text[in.from:in.to]}
			}
			if i > 0 {
				spans[len(spans)-1].to = from
			}
			spans = append(spans, span{n.Content[i].Value, from, in.to})
		}
	}
	return newPart(d.Text.Text, in, spans, func(i int) part { return mapParts(d, n.Content[2*i+1], spans[i]) })
}

// splitTOML splits tables that are written in one place.
func splitTOML(d *document) part {
	items, err := tomlItems(d.text)
	if err != nil || strings.Contains(d.text, "\r") {
		return part{head: d.text}
	}
	paths := make([]Path, len(items)) // of the tables that the items are in
	for i, it := range items {
		paths[i] = sectionPath(items, it.section)
	}
	return tableParts(d.text, items, paths, 0, span{to: len(d.text)})
}

// tableParts splits a range of the text with items whose paths begin with the same depth names.
func tableParts(text string, items []tomlItem, tables []Path, depth int, in span) part {
	alone := part{key: in.key, head: text[in.from:in.to]}
	at := in.from
	if len(items) > 0 && depth > 0 && items[0].header {
		alone.table = true
		if len(items[0].path) == depth {
			at, items, tables = items[0].to, items[1:], tables[1:]
		}
	}
	var spans []span
	var first []int // index of the first item of each span
	for i, it := range items {
		if len(it.path) <= depth || depth > 0 && (it.list || !it.header && len(tables[i]) < depth) {
			return alone
		}
		if n := len(spans); n == 0 || spans[n-1].key != it.path[depth] {
			spans, first = append(spans, span{key: it.path[depth], from: at}), append(first, i)
		}
		if !it.inline {
			at = edit.LineEnd(text, it.to)
			if it.header {
				at = it.to
			}
		}
		spans[len(spans)-1].to = at
	}
	first = append(first, len(items))
	p := newPart(text, in, spans, func(i int) part {
		from, to := first[i], first[i+1]
		return tableParts(text, items[from:to], tables[from:to], depth+1, spans[i])
	})
	p.table = alone.table
	return p
}
