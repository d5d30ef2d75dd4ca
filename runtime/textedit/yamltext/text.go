// Package yamltext finds the nodes of a YAML document in its text, and says how the text is
// changed there. yaml.v3 says in which line and column a node begins; where it ends is found in
// the text. Nothing here is proven: who uses a splice reads the new text and compares
// ([textedit] compares values, yamledit of studio compares nodes).
//
// [textedit]: https://pkg.go.dev/github.com/luaccm/ccm/runtime/textedit
package yamltext

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// A Span is where a node stands in a text. Value is behind its anchor and tag.
type Span struct{ Start, Value, End int }

// A Text is a text with its nodes.
type Text struct {
	Text string
	Root *yaml.Node // the document

	lines []int // where they begin
	spans map[*yaml.Node]Span
	last  place
	units map[int]int // how many values of keys are indented by how many blanks
}

// A place is a line and a column in characters, both from 1, and their offset.
type place struct{ line, column, offset int }

// Parse reads a text with one document. It is nil if the text has none.
func Parse(text string) (*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var root, second yaml.Node
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if dec.Decode(&second) == nil {
		return nil, errors.New("want one document of YAML, found a second one")
	}
	return &root, nil
}

// Empty returns a document with a null of which nothing is written.
func Empty() *yaml.Node {
	null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1}
	return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{null}}
}

// New finds the nodes of a document in its text.
func New(text string, root *yaml.Node) *Text {
	t := &Text{Text: text, Root: root, lines: []int{0}, spans: make(map[*yaml.Node]Span), units: make(map[int]int)}
	for i := 0; i < len(text); i++ {
		if n := lineBreak(text[i:]); n > 0 {
			i += n - 1
			t.lines = append(t.lines, i+1)
		}
	}
	t.measure(root.Content[0], -1, false)
	return t
}

// Span returns where a node stands.
func (t *Text) Span(n *yaml.Node) Span { return t.spans[n] }

// lineBreak returns how long the end of a line is with which a text begins.
func lineBreak(s string) int {
	switch s[0] {
	case '\n':
		return 1
	case '\r':
		if strings.HasPrefix(s, "\r\n") {
			return 2
		}
		return 1
	case 0xc2, 0xe2:
		for _, end := range []string{"\u0085", "\u2028", "\u2029"} {
			if strings.HasPrefix(s, end) {
				return len(end)
			}
		}
	}
	return 0
}

// offset turns a line and a column in characters, both from 1, into bytes. Nodes are measured
// in the order of the text, so that a long line is gone along once.
func (t *Text) offset(line, column int) int {
	p := place{line, 1, t.lines[min(max(line, 1), len(t.lines))-1]}
	if p.offset == 0 && strings.HasPrefix(t.Text, "\ufeff") {
		p.offset = len("\ufeff")
	}
	if t.last.line == line && t.last.column <= column {
		p = t.last
	}
	for ; p.column < column && p.offset < len(t.Text); p.column++ {
		_, n := utf8.DecodeRuneInString(t.Text[p.offset:])
		p.offset += n
	}
	t.last = p
	return p.offset
}

// Column returns how many bytes of its line stand before an offset.
func (t *Text) Column(at int) int { return at - splice.LineStart(t.Text, at) }

// behindColon returns the offset behind the colon of a key.
func (t *Text) behindColon(key *yaml.Node) int {
	end := t.spans[key].End
	return end + strings.IndexByte(t.Text[end:], ':') + 1
}

// measure finds where a node stands that is in a block with an indent, and those in it.
func (t *Text) measure(n *yaml.Node, indent int, flow bool) Span {
	s := Span{Start: t.offset(n.Line, n.Column)}
	s.Value = s.Start
	if n.Kind != yaml.AliasNode && (n.Anchor != "" || n.Style&yaml.TaggedStyle != 0) {
		for s.Value < len(t.Text) && (t.Text[s.Value] == '&' || t.Text[s.Value] == '!') {
			s.Value = t.skip(s.Value+strings.IndexFunc(t.Text[s.Value:]+" ", isBlank), true)
		}
	}
	s.End = s.Value
	flow = flow || n.Style&yaml.FlowStyle != 0
	switch n.Kind {
	case yaml.AliasNode:
		s.End = min(s.Start+1+len(n.Value), len(t.Text))
	case yaml.ScalarNode:
		s.End = t.scalarEnd(n, s.Value, indent)
	case yaml.MappingNode, yaml.SequenceNode:
		if len(n.Content) > 0 && !flow {
			indent = t.Column(s.Value)
		}
		s.End = max(s.End, t.measureContent(n, s.Value, indent, flow))
		if n.Style&yaml.FlowStyle != 0 {
			s.End = t.bracketEnd(n, s.End)
		}
	}
	t.spans[n] = s
	return s
}

// bracketEnd returns where brackets end whose last child ends at an offset.
func (t *Text) bracketEnd(n *yaml.Node, end int) int {
	if len(n.Content) == 0 {
		end++
	}
	for end = t.skip(end, true); end < len(t.Text) && t.Text[end] == ','; {
		end = t.skip(end+1, true)
	}
	return min(end+1, len(t.Text))
}

// measureContent measures what is in a map or a list, and returns where the last ends.
func (t *Text) measureContent(n *yaml.Node, end, indent int, flow bool) int {
	for i, c := range n.Content {
		s := t.measure(c, indent, flow)
		isList := n.Kind == yaml.SequenceNode
		if (isList && !flow || !isList && i%2 == 1) && Unwritten(c) && c.Anchor == "" && c.Style&yaml.TaggedStyle == 0 {
			at := t.skip(end, isList)
			if at < len(t.Text) && (t.Text[at] == ':' || t.Text[at] == '-') {
				at++
			}
			s = Span{at, at, at} // a null stands right behind the colon or the dash
			t.spans[c] = s
		}
		if !isList && !flow && i%2 == 1 && c.Kind != yaml.ScalarNode && c.Kind != yaml.AliasNode && c.Style&yaml.FlowStyle == 0 {
			t.units[t.Column(s.Value)-indent]++
		}
		end = max(end, s.End)
	}
	return end
}

// Unwritten reports whether a node is a null of which nothing is written.
func Unwritten(n *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&quoted == 0
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// skip goes over blanks and, if far, over ends of lines and comments.
func (t *Text) skip(at int, far bool) int {
	for at < len(t.Text) {
		switch c := t.Text[at]; {
		case c == ' ' || c == '\t', far && (c == '\n' || c == '\r'):
			at++
		case far && c == '#':
			at = splice.LineEnd(t.Text, at)
		default:
			return at
		}
	}
	return at
}

// scalarEnd returns where a scalar ends that begins at an offset.
func (t *Text) scalarEnd(n *yaml.Node, at, indent int) int {
	text := t.Text
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for at++; at < len(text) && text[at] != '"'; at++ {
			if text[at] == '\\' {
				at++
			}
		}
		return min(at+1, len(text))
	case n.Style&yaml.SingleQuotedStyle != 0:
		for at++; at < len(text); at++ {
			if text[at] != '\'' {
				continue
			}
			if !strings.HasPrefix(text[at:], "''") {
				break
			}
			at++
		}
		return min(at+1, len(text))
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return t.blockEnd(at, indent)
	}
	for _, r := range n.Value { // plain: the text is the value, but for ends of lines
		if isBlank(r) {
			continue
		}
		for at < len(text) && isBlank(rune(text[at])) {
			at++
		}
		at = min(at+utf8.RuneLen(r), len(text))
	}
	return at
}

// blockEnd returns where the lines end that follow | or >.
func (t *Text) blockEnd(at, indent int) int {
	text := t.Text
	head, _, _ := strings.Cut(text[at:splice.LineEnd(text, at)], "#")
	keep := strings.Contains(head, "+")
	end := splice.LineEnd(text, at)
	for next := end; next < len(text); {
		line := text[next:splice.LineEnd(text, next)]
		blank := strings.TrimSpace(line) == ""
		if !blank && len(line)-len(strings.TrimLeft(line, " ")) <= indent {
			break
		}
		next += len(line)
		if !blank || keep {
			end = next
		}
	}
	if end > at && text[end-1] == '\n' {
		end -= len("\n")
		end -= len(text[:end]) - len(strings.TrimSuffix(text[:end], "\r"))
	}
	return end
}

// Unit returns by how many blanks most maps and lists are indented that stand below their key.
func (t *Text) Unit() int {
	if t.units[4] > t.units[2] {
		return 4
	}
	return 2
}
