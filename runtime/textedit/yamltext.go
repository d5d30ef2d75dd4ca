package textedit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A yamlSpan is where a node stands in a text. Value is behind its anchor and tag.
type yamlSpan struct{ start, value, end int }

// A yamlText is a text with its nodes. The parser says in which line and column a node begins;
// where it ends is found in the text.
type yamlText struct {
	text  string
	root  *yaml.Node
	lines []int // where they begin
	spans map[*yaml.Node]yamlSpan
}

func newYAMLText(text string, root *yaml.Node) *yamlText {
	d := &yamlText{text: text, root: root, lines: []int{0}, spans: make(map[*yaml.Node]yamlSpan)}
	for i := 0; i < len(text); i++ {
		if n := lineBreak(text[i:]); n > 0 {
			i += n - 1
			d.lines = append(d.lines, i+1)
		}
	}
	d.measure(root.Content[0], -1, false)
	return d
}

// lineBreak returns how long the end of a line is with which a text begins.
func lineBreak(s string) int {
	for _, end := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if strings.HasPrefix(s, end) {
			return len(end)
		}
	}
	return 0
}

// offset turns a line and a column in characters, both from 1, into bytes.
func (d *yamlText) offset(line, column int) int {
	at := d.lines[min(max(line, 1), len(d.lines))-1]
	if at == 0 && strings.HasPrefix(d.text, "\ufeff") {
		at = len("\ufeff")
	}
	for ; column > 1 && at < len(d.text); column-- {
		_, n := utf8.DecodeRuneInString(d.text[at:])
		at += n
	}
	return at
}

func (d *yamlText) column(at int) int { return at - lineStart(d.text, at) }

// colonOf returns the offset behind the colon of a key.
func (d *yamlText) colonOf(key *yaml.Node) int {
	end := d.spans[key].end
	return end + strings.IndexByte(d.text[end:], ':') + 1
}

// flow reports whether what is in the last node of a trail stands in brackets.
func (d *yamlText) flow(trail []yamlStep) bool {
	for _, s := range trail {
		if s.node.Style&yaml.FlowStyle != 0 {
			return true
		}
	}
	return false
}

// measure finds where a node stands that is in a block with an indent, and those in it.
func (d *yamlText) measure(n *yaml.Node, indent int, flow bool) yamlSpan {
	s := yamlSpan{start: d.offset(n.Line, n.Column)}
	s.value = s.start
	if n.Kind != yaml.AliasNode && (n.Anchor != "" || n.Style&yaml.TaggedStyle != 0) {
		for s.value < len(d.text) && (d.text[s.value] == '&' || d.text[s.value] == '!') {
			s.value = d.skip(s.value+strings.IndexFunc(d.text[s.value:]+" ", isBlank), true)
		}
	}
	s.end = s.value
	flow = flow || n.Style&yaml.FlowStyle != 0
	switch n.Kind {
	case yaml.AliasNode:
		s.end = min(s.start+1+len(n.Value), len(d.text))
	case yaml.ScalarNode:
		s.end = d.scalarEnd(n, s.value, indent)
	case yaml.MappingNode, yaml.SequenceNode:
		if len(n.Content) > 0 && !flow {
			indent = d.column(s.value)
		}
		s.end = max(s.end, d.measureContent(n, s.value, indent, flow))
		if n.Style&yaml.FlowStyle != 0 {
			if len(n.Content) == 0 {
				s.end++
			}
			for s.end = d.skip(s.end, true); s.end < len(d.text) && d.text[s.end] == ','; {
				s.end = d.skip(s.end+1, true)
			}
			s.end = min(s.end+1, len(d.text))
		}
	}
	d.spans[n] = s
	return s
}

// measureContent measures what is in a map or a list, and returns where the last ends.
func (d *yamlText) measureContent(n *yaml.Node, end, indent int, flow bool) int {
	for i, c := range n.Content {
		s := d.measure(c, indent, flow)
		if isList := n.Kind == yaml.SequenceNode; (isList && !flow || !isList && i%2 == 1) && unwritten(c) && c.Anchor == "" && c.Style&yaml.TaggedStyle == 0 {
			at := d.skip(end, isList)
			if at < len(d.text) && (d.text[at] == ':' || d.text[at] == '-') {
				at++
			}
			s = yamlSpan{at, at, at} // a null stands right behind the colon or the dash
			d.spans[c] = s
		}
		end = max(end, s.end)
	}
	return end
}

// unwritten reports whether a node is a null of which nothing is written.
func unwritten(n *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&quoted == 0
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// skip goes over blanks and, if far, over ends of lines and comments.
func (d *yamlText) skip(at int, far bool) int {
	for at < len(d.text) {
		switch c := d.text[at]; {
		case c == ' ' || c == '\t', far && (c == '\n' || c == '\r'):
			at++
		case far && c == '#':
			at = lineEnd(d.text, at)
		default:
			return at
		}
	}
	return at
}

// scalarEnd returns where a scalar ends that begins at an offset.
func (d *yamlText) scalarEnd(n *yaml.Node, at, indent int) int {
	t := d.text
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for at++; at < len(t) && t[at] != '"'; at++ {
			if t[at] == '\\' {
				at++
			}
		}
		return min(at+1, len(t))
	case n.Style&yaml.SingleQuotedStyle != 0:
		for at++; at < len(t); at++ {
			if t[at] != '\'' {
				continue
			}
			if !strings.HasPrefix(t[at:], "''") {
				break
			}
			at++
		}
		return min(at+1, len(t))
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.blockEnd(at, indent)
	}
	for _, r := range n.Value { // plain: the text is the value, but for ends of lines
		if isBlank(r) {
			continue
		}
		for at < len(t) && isBlank(rune(t[at])) {
			at++
		}
		at = min(at+utf8.RuneLen(r), len(t))
	}
	return at
}

// blockEnd returns where the lines end that follow | or >.
func (d *yamlText) blockEnd(at, indent int) int {
	t := d.text
	head, _, _ := strings.Cut(t[at:lineEnd(t, at)], "#")
	keep := strings.Contains(head, "+")
	end := lineEnd(t, at)
	for next := end; next < len(t); {
		line := t[next:lineEnd(t, next)]
		blank := strings.TrimSpace(line) == ""
		if !blank && len(line)-len(strings.TrimLeft(line, " ")) <= indent {
			break
		}
		next += len(line)
		if !blank || keep {
			end = next
		}
	}
	if end > at && t[end-1] == '\n' {
		end -= len("\n")
		end -= len(t[:end]) - len(strings.TrimSuffix(t[:end], "\r"))
	}
	return end
}

// unit returns by how many blanks the text is indented.
func (d *yamlText) unit() int {
	counts, last := make(map[int]int), 0
	for _, at := range d.lines {
		in := d.skip(at, false) - at
		if in > last {
			counts[in-last]++
		}
		last = in
	}
	if counts[4] > counts[2] {
		return 4
	}
	return 2
}

// written returns the text of a node, in brackets if flow, without the end of its last line.
func written(v *yaml.Node, flow bool, unit int) string {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(unit)
	encode := func(n *yaml.Node) string {
		if e.Encode(n) != nil || e.Close() != nil {
			return "[]" // the proof refuses it
		}
		return out.String()
	}
	switch {
	case flow || v.Kind == yaml.ScalarNode && v.Style&yaml.LiteralStyle == 0:
		eachNode(v, func(n *yaml.Node) {
			if n.Style &^= yaml.LiteralStyle | yaml.FoldedStyle; n.Kind != yaml.ScalarNode {
				n.Style |= yaml.FlowStyle
			}
		})
		text := strings.TrimSpace(encode(&yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{v}}))
		return unfolded(text[1 : len(text)-1])
	case v.Kind == yaml.ScalarNode: // a block scalar is written under a key
		text := encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "k"}, v}})
		return strings.TrimSuffix(strings.TrimPrefix(text, "k: "), "\n")
	}
	return strings.TrimRight(encode(v), "\n")
}

// unfolded joins the lines into which the encoder breaks long text in brackets. Ends of lines in
// strings are escapes there.
func unfolded(s string) string {
	lines := strings.Split(s, "\n")
	for i := 1; i < len(lines); i++ {
		lines[i] = strings.TrimLeft(lines[i], " ")
	}
	return strings.Join(lines, " ")
}

// indented indents all lines but the first.
func indented(text string, by int) string {
	lines := strings.SplitAfter(text, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			lines[i] = strings.Repeat(" ", by) + lines[i]
		}
	}
	return strings.Join(lines, "")
}
