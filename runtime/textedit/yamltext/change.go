package yamltext

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// A Step is a node on the path to a value, with its key if it is in a map.
type Step struct{ Node, Key *yaml.Node }

// InFlow reports whether the children of the last node of steps are in flow style ({} or []).
func InFlow(steps []Step) bool {
	for _, s := range steps {
		if s.Node.Style&yaml.FlowStyle != 0 {
			return true
		}
	}
	return false
}

// Replace returns the splice that replaces the last node of steps by v.
func (t *Text) Replace(steps []Step, v *yaml.Node) splice.Splice {
	last := steps[len(steps)-1]
	old, key := last.Node, last.Key
	if len(steps) == 1 && Unwritten(old) { // the document has only comments
		return t.appendNode(v)
	}
	s, flow := t.spans[old], InFlow(steps[:len(steps)-1])
	if old.Kind != yaml.AliasNode && old.Anchor == "" {
		s.Value = s.Start // the tag is replaced too
	}
	if v.Kind == yaml.ScalarNode {
		v.Style = styleFor(old, v, flow)
	}
	base := 0 // indentation of the key or item
	switch {
	case key != nil:
		base = t.Column(t.spans[key].Start)
	case len(steps) > 1:
		base = t.Column(t.spans[steps[len(steps)-2].Node].Value)
	}
	unit := t.Unit()
	text := Written(v, flow, unit)
	lead := ""
	if s.Value > 0 && strings.IndexByte(":-", t.Text[s.Value-1]) >= 0 {
		lead = " "
	}
	if v.Kind == yaml.ScalarNode || flow || len(v.Content) == 0 || v.Style&yaml.FlowStyle != 0 {
		return t.replaceByWord(last, s, indented(text, base), lead, flow)
	}
	if key == nil { // an item of a list begins after its dash
		return splice.Splice{From: s.Value, To: s.End, Text: lead + indented(text, t.Column(s.Value)+len(lead))}
	}
	from := t.behindColon(key)
	if from > s.End { // an explicit key (?) without a value
		return nowhere
	}
	comment := t.commentBehind(s.End) // a comment behind a scalar stays on the line of the key
	if old.Kind != yaml.ScalarNode || strings.Contains(t.Text[from:s.End], "\n") {
		comment = ""
	}
	anchor := ""
	if s.Value > s.Start {
		anchor = " " + strings.TrimSpace(t.Text[s.Start:s.Value])
	}
	return splice.Splice{From: from, To: s.End + len(comment), Text: anchor + comment + "\n" + strings.Repeat(" ", base+unit) + indented(text, base+unit)}
}

// nowhere is an invalid splice, which Apply refuses.
var nowhere = splice.Splice{From: 1}

// ReplaceByLines returns the splice that replaces the last node of steps, a value of a key or the root, by a block
// given as unindented lines.
func (t *Text) ReplaceByLines(steps []Step, lines string) splice.Splice {
	last := steps[len(steps)-1]
	s := t.spans[last.Node]
	lines = strings.TrimSuffix(lines, "\n")
	switch {
	case len(steps) == 1 && Unwritten(last.Node):
		return t.appendText(lines + "\n")
	case last.Key == nil || s.Value > s.Start || InFlow(steps[:len(steps)-1]):
		return nowhere
	}
	by := t.Column(t.spans[last.Key].Start) + t.Unit()
	from, comment := t.behindColon(last.Key), t.commentBehind(s.End)
	if from > s.End {
		return nowhere
	}
	return splice.Splice{From: from, To: s.End + len(comment), Text: comment + "\n" + strings.Repeat(" ", by) + indented(lines, by)}
}

// appendNode returns the splice that writes the root of a document that has only comments.
func (t *Text) appendNode(v *yaml.Node) splice.Splice {
	return t.appendText(Written(v, false, 2) + "\n")
}

func (t *Text) appendText(text string) splice.Splice {
	if t.Text != "" && !strings.HasSuffix(t.Text, "\n") && t.Text != "\ufeff" {
		text = "\n" + text
	}
	return splice.Splice{From: len(t.Text), To: len(t.Text), Text: text}
}

// commentBehind returns the comment behind an offset on its line, with the white space before it.
func (t *Text) commentBehind(at int) string {
	line := strings.TrimRight(t.Text[at:splice.LineEnd(t.Text, at)], "\r\n")
	if !strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	return line
}

// replaceByWord returns the splice that replaces the node at s by text that begins on the line of its key.
func (t *Text) replaceByWord(last Step, s Span, text, lead string, flow bool) splice.Splice {
	old, key := last.Node, last.Key
	isBlock := old.Kind == yaml.ScalarNode && old.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if head, body, block := strings.Cut(text, "\n"); block && !flow && !isBlock { // a comment beside the node moves up to the | line
		if comment := t.commentBehind(s.End); comment != "" {
			return splice.Splice{From: s.Value, To: s.End + len(comment), Text: lead + head + comment + "\n" + body}
		}
	}
	if key != nil && s.Value > t.spans[key].End && strings.TrimSpace(t.Text[splice.LineStart(t.Text, s.Value):s.Value]) == "" {
		// The old value is a block below its key; the new one goes on the line of the key.
		if up := t.behindColon(key); up <= s.Value && strings.TrimSpace(t.Text[up:s.Value]) == "" {
			return splice.Splice{From: up, To: s.End, Text: " " + text}
		}
	}
	return splice.Splice{From: s.Value, To: s.End, Text: lead + text}
}

// Add returns the splice that inserts the only child of extra, a map or list, before child i of the last node of
// steps, or at its end if i is the number of children.
func (t *Text) Add(steps []Step, i int, extra *yaml.Node) splice.Splice {
	n := steps[len(steps)-1].Node
	if InFlow(steps) {
		text := Written(extra, true, 2)
		text = strings.TrimSpace(text[min(1, len(text)):max(len(text)-1, 0)]) // without its brackets
		if i < len(n.Content) {
			at := t.spans[n.Content[i]].Start
			return splice.Splice{From: at, To: at, Text: text + ", "}
		}
		end := t.spans[n.Content[len(n.Content)-1]].End
		return splice.Splice{From: end, To: end, Text: ", " + text}
	}
	return t.AddLines(n, i, Written(extra, false, t.Unit())+"\n")
}

// AddLines returns the splice that inserts unindented lines before child i of a block node, or at its end.
func (t *Text) AddLines(n *yaml.Node, i int, lines string) splice.Splice {
	s := t.spans[n]
	column := t.Column(s.Value)
	text := strings.Repeat(" ", column) + indented(lines, column)
	if i < len(n.Content) {
		from, _, ok := t.Lines(n, i, 1)
		if !ok { // the child shares its line with a dash or another node
			if from = t.spans[n.Content[i]].Start; n.Kind == yaml.SequenceNode {
				from = s.Value
			}
			text = strings.TrimLeft(text, " ") + strings.Repeat(" ", column)
		}
		return splice.Splice{From: from, To: from, Text: text}
	}
	end := splice.LineEnd(t.Text, s.End)
	if s.End > 0 && t.Text[s.End-1] == '\n' {
		end = s.End
	}
	if end > 0 && t.Text[end-1] != '\n' {
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	return splice.Splice{From: end, To: end, Text: text}
}

// Lines returns the range of the lines of child i of a block, which consists of per nodes (2 in a map), with the
// comments directly above. ok is false if the lines have other nodes as well.
func (t *Text) Lines(n *yaml.Node, i, per int) (from, to int, ok bool) {
	from, to, ok = t.ownLines(n, i, per)
	if !ok {
		return from, to, false
	}
	for from > 0 {
		up := splice.LineStart(t.Text, from-1)
		line := t.Text[up:from]
		if !strings.HasPrefix(strings.TrimSpace(line), "#") || i > 0 && up < t.spans[n.Content[i-1]].End || strings.Index(line, "#") < t.Column(t.spans[n].Value) {
			break
		}
		from = up
	}
	return from, to, true
}

// ownLines is Lines without the comments above.
func (t *Text) ownLines(n *yaml.Node, i, per int) (from, to int, ok bool) {
	start, end := t.spans[n.Content[i]].Start, t.spans[n.Content[i+per-1]].End
	begin := start
	if n.Kind == yaml.SequenceNode {
		if begin = t.dash(n, i); begin < 0 {
			return start, end, false
		}
	}
	from, to = splice.LineStart(t.Text, begin), splice.LineEnd(t.Text, end)
	if end > start && t.Text[end-1] == '\n' {
		to = end
	}
	alone := strings.TrimSpace(t.Text[from:begin]) == "" && (i == 0 || t.spans[n.Content[i-1]].End <= from)
	return from, to, alone
}

// dash returns the offset of the dash of item i of a block list, -1 if it is not found.
func (t *Text) dash(n *yaml.Node, i int) int {
	at := t.spans[n].Value
	if i > 0 {
		at = t.skip(t.spans[n.Content[i-1]].End, true)
	}
	if at >= len(t.Text) || t.Text[at] != '-' {
		return -1
	}
	return at
}

// Cut returns the splice that removes child i, of per nodes, from the last node of steps, with the comments directly
// above it if comments is set.
func (t *Text) Cut(steps []Step, i, per int, comments bool) splice.Splice {
	n := steps[len(steps)-1].Node
	if InFlow(steps) {
		if i+per < len(n.Content) {
			return splice.Splice{From: t.spans[n.Content[i]].Start, To: t.spans[n.Content[i+per]].Start}
		}
		return splice.Splice{From: t.spans[n.Content[i-1]].End, To: t.spans[n.Content[i+per-1]].End}
	}
	lines := t.ownLines
	if comments {
		lines = t.Lines
	}
	if from, to, ok := lines(n, i, per); ok {
		if from > 0 && to == len(t.Text) && t.Text[to-1] != '\n' {
			from--
		}
		return splice.Splice{From: from, To: to}
	}
	if i+per == len(n.Content) {
		return splice.Splice{} // it changes nothing, so the verification refuses it
	}
	// The child is behind a dash, where the next one takes its place.
	from, to := t.spans[n.Content[i]].Start, t.spans[n.Content[i+per]].Start
	if n.Kind == yaml.SequenceNode {
		from, to = t.dash(n, i), t.dash(n, i+per)
	}
	return splice.Splice{From: from, To: max(from, to)}
}
