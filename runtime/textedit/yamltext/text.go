// Package yamltext finds the nodes of a YAML document in its text, and returns the splices that change them. yaml.v3
// gives the line and column where a node begins; this package finds its end. It does not verify the result: callers
// parse the new text and compare ([textedit] compares values, yamledit of studio compares nodes).
//
// [textedit]: https://pkg.go.dev/github.com/luaccm/ccm/runtime/textedit
package yamltext

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/runtime/yamlsyntax"
)

// A Span is the range of a node in a text. Value is the offset after its anchor and tag.
type Span struct{ Start, Value, End int }

// A Text is a text with its nodes.
type Text struct {
	Text string
	Root *yaml.Node // the document's content

	lines []int // offsets of the lines
	spans map[*yaml.Node]Span
	last  place
	units map[int]int // how often each indentation step is used
}

// A place is a line and a column in characters, both from 1, and their offset in bytes.
type place struct{ line, column, offset int }

// Parse parses a text with one document. The result is nil if the text has none.
func Parse(text string) (*yaml.Node, error) {
	dec := yamlsyntax.NewDecoder(text, nil)
	root, err := dec.Decode()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, diag.Not("", "valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if _, err := dec.Decode(); err == nil {
		return nil, diag.Expected("one YAML document").Found("a second one")
	}
	return root, nil
}

// Empty returns a document with a null that is not written.
func Empty() *yaml.Node {
	null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1}
	return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{null}}
}

// New finds the nodes of a parsed document in its text.
func New(text string, root *yaml.Node) *Text {
	t := &Text{Text: text, Root: root, lines: []int{0}, spans: make(map[*yaml.Node]Span), units: make(map[int]int)}
	for i := 0; i < len(text); i++ {
		if n := yamlsyntax.LineBreak(text[i:]); n > 0 {
			i += n - 1
			t.lines = append(t.lines, i+1)
		}
	}
	t.measure(root.Content[0], -1, false)
	return t
}

// Span returns the range of a node.
func (t *Text) Span(n *yaml.Node) Span { return t.spans[n] }

// offset converts a line and a column in characters, both from 1, to bytes. Calls in the order of the text scan a
// long line only once.
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

// Column returns the column of an offset in bytes, from 0.
func (t *Text) Column(at int) int { return at - splice.LineStart(t.Text, at) }

// behindColon returns the offset after the colon of a key.
func (t *Text) behindColon(key *yaml.Node) int {
	end := t.spans[key].End
	return end + strings.IndexByte(t.Text[end:], ':') + 1
}

// measure finds the spans of a node, and of all nodes in it. indent is the indentation of the block around it.
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

// bracketEnd returns the offset after the closing bracket; end is the end of the last child.
func (t *Text) bracketEnd(n *yaml.Node, end int) int {
	if len(n.Content) == 0 {
		end++
	}
	for end = t.skip(end, true); end < len(t.Text) && t.Text[end] == ','; {
		end = t.skip(end+1, true)
	}
	return min(end+1, len(t.Text))
}

// measureContent measures the children of a map or a list, and returns the end of the last one.
func (t *Text) measureContent(n *yaml.Node, end, indent int, flow bool) int {
	for i, c := range n.Content {
		s := t.measure(c, indent, flow)
		isList := n.Kind == yaml.SequenceNode
		if (isList && !flow || !isList && i%2 == 1) && Unwritten(c) && c.Anchor == "" && c.Style&yaml.TaggedStyle == 0 {
			at := t.skip(end, isList)
			if at < len(t.Text) && (t.Text[at] == ':' || t.Text[at] == '-') {
				at++
			}
			s = Span{at, at, at} // an unwritten null is directly behind the colon or the dash
			t.spans[c] = s
		}
		if !isList && !flow && i%2 == 1 && c.Kind != yaml.ScalarNode && c.Kind != yaml.AliasNode && c.Style&yaml.FlowStyle == 0 {
			t.units[t.Column(s.Value)-indent]++
		}
		end = max(end, s.End)
	}
	return end
}

// Unwritten reports whether a node is a null without text.
func Unwritten(n *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&quoted == 0
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// skip moves over spaces and, if far, over line ends and comments.
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

// scalarEnd returns the end of the scalar at an offset.
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
	for _, r := range n.Value { // plain style: the text is the value except for line ends
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

// blockEnd returns the end of the lines after | or >.
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

// Unit returns the most frequent indentation step of maps and lists below their keys.
func (t *Text) Unit() int {
	if t.units[4] > t.units[2] {
		return 4
	}
	return 2
}
