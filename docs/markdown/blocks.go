package markdown

import (
	"strconv"
	"strings"
)

// A line is one of a page.
type line struct {
	text   string
	number int // from 1
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

// indent returns how many blanks a line begins with. A tab is four.
func (l line) indent() int {
	n := 0
	for _, c := range l.text {
		switch c {
		case ' ':
			n++
		case '\t':
			n += codeIndent
		default:
			return n
		}
	}
	return n
}

// without returns a line without its first n blanks.
func (l line) without(n int) line {
	for ; n > 0 && strings.HasPrefix(l.text, " "); n-- {
		l.text = l.text[1:]
	}
	if n > 0 && strings.HasPrefix(l.text, "\t") {
		l.text = l.text[1:]
	}
	return l
}

// codeIndent is how far code without a fence is indented, and a list mark is not.
const codeIndent = 4

// A blockReader reads the blocks of a page, a quotation or an item of a list.
type blockReader struct {
	lines   []line
	at      int
	anchors anchors
	spaced  bool // a blank line is between two blocks
}

// blocks reads all blocks.
func (r *blockReader) blocks() (list []*Node) {
	blank := false
	for r.at < len(r.lines) {
		l := r.lines[r.at]
		if !l.blank() {
			r.spaced, blank = r.spaced || blank && len(list) > 0, false
		}
		switch {
		case l.blank():
			blank = true
			r.at++
		case l.indent() >= codeIndent:
			list = append(list, r.indentedCode())
		default:
			if n := r.block(l); n != nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// block reads a block that begins at l. It is nil for a comment.
func (r *blockReader) block(l line) *Node {
	text := strings.TrimSpace(l.text)
	switch {
	case headingLevel(text) > 0:
		r.at++
		return r.heading(text, l.number)
	case isFence(text):
		return r.fencedCode(l)
	case isRule(text):
		r.at++
		return &Node{Kind: KindRule, Line: l.number}
	case strings.HasPrefix(text, ">"):
		return r.quotation()
	case strings.HasPrefix(text, "<!--"):
		for r.at < len(r.lines) && !strings.Contains(r.lines[r.at].text, "-->") {
			r.at++
		}
		r.at++
		return nil
	}
	if _, ok := markOf(l); ok {
		return r.list()
	}
	if n := r.table(); n != nil {
		return n
	}
	return r.paragraph()
}

// begins reports whether a line begins a block in the middle of a paragraph.
func begins(l line) bool {
	if l.indent() >= codeIndent {
		return false
	}
	text := strings.TrimSpace(l.text)
	if headingLevel(text) > 0 || isFence(text) || isRule(text) || strings.HasPrefix(text, ">") || strings.HasPrefix(text, "<!--") {
		return true
	}
	m, ok := markOf(l)
	return ok && !m.empty && (!m.ordered || m.number == 1)
}

func headingLevel(text string) int {
	level := len(text) - len(strings.TrimLeft(text, "#"))
	if level > 6 || level < len(text) && text[level] != ' ' {
		return 0
	}
	return level
}

func (r *blockReader) heading(text string, number int) *Node {
	level := headingLevel(text)
	text = strings.TrimSpace(text[level:])
	if bare := strings.TrimRight(text, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		text = strings.TrimSpace(bare)
	}
	return &Node{Kind: KindHeading, Level: level, Anchor: r.anchors.name(text), Children: inlines(text, number), Line: number}
}

// isRule reports whether a line is a rule: three or more of one of three marks.
func isRule(text string) bool {
	marks := strings.ReplaceAll(text, " ", "")
	return len(marks) >= 3 && strings.ContainsAny(marks[:1], "-*_") && strings.Trim(marks, marks[:1]) == ""
}

// fenceOf returns the fence at the beginning of a line.
func fenceOf(text string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(text) - len(strings.TrimLeft(text, mark)); n >= 3 {
			return text[:n]
		}
	}
	return ""
}

func isFence(text string) bool {
	fence := fenceOf(text)
	return fence != "" && (fence[0] == '~' || !strings.Contains(text[len(fence):], "`"))
}

func (r *blockReader) fencedCode(first line) *Node {
	text := strings.TrimSpace(first.text)
	fence := fenceOf(text)
	n := &Node{Kind: KindCodeBlock, Info: unescaped(strings.TrimSpace(text[len(fence):])), Line: first.number + 1}
	r.at++
	var code strings.Builder
	for ; r.at < len(r.lines); r.at++ {
		l := r.lines[r.at]
		if end := strings.TrimSpace(l.text); l.indent() < codeIndent && len(end) >= len(fence) && strings.Trim(end, fence[:1]) == "" {
			r.at++
			break
		}
		code.WriteString(l.without(first.indent()).text + "\n")
	}
	n.Text = code.String()
	return n
}

func (r *blockReader) indentedCode() *Node {
	n := &Node{Kind: KindCodeBlock, Line: r.lines[r.at].number}
	var code []string
	for ; r.at < len(r.lines) && (r.lines[r.at].blank() || r.lines[r.at].indent() >= codeIndent); r.at++ {
		code = append(code, r.lines[r.at].without(codeIndent).text+"\n")
	}
	for strings.TrimSpace(code[len(code)-1]) == "" {
		code = code[:len(code)-1]
	}
	n.Text = strings.Join(code, "")
	return n
}

func (r *blockReader) quotation() *Node {
	n := &Node{Kind: KindQuotation, Line: r.lines[r.at].number}
	inner := blockReader{anchors: r.anchors}
	for ; r.at < len(r.lines); r.at++ {
		l := r.lines[r.at]
		rest, ok := strings.CutPrefix(strings.TrimLeft(l.text, " "), ">")
		if !ok || l.indent() >= codeIndent {
			break
		}
		inner.lines = append(inner.lines, line{strings.TrimPrefix(rest, " "), l.number})
	}
	n.Children = inner.blocks()
	return n
}

// A mark begins an item of a list.
type mark struct {
	ordered bool
	number  int
	sign    byte // that all items of a list have
	width   int  // up to the text of the item
	empty   bool // there is none on this line
}

func markOf(l line) (m mark, ok bool) {
	text := strings.TrimLeft(l.text, " ")
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	at := 0
	if digits > 0 && digits < 10 {
		m.ordered, at = true, digits
		m.number, _ = strconv.Atoi(text[:digits])
	}
	if at == len(text) || !strings.Contains(map[bool]string{true: ".)", false: "-*+"}[m.ordered], text[at:at+1]) {
		return m, false
	}
	m.sign = text[at]
	rest := text[at+1:]
	blanks := len(rest) - len(strings.TrimLeft(rest, " "))
	m.empty = blanks == len(rest)
	if !m.empty && (blanks == 0 || isRule(strings.TrimSpace(text))) {
		return m, false
	}
	if m.empty || blanks > codeIndent {
		blanks = 1
	}
	m.width = len(l.text) - len(text) + at + 1 + blanks
	return m, l.indent() < codeIndent
}

// list reads a list. It is tight if no blank line is between its items or between the blocks of one.
func (r *blockReader) list() *Node {
	first, _ := markOf(r.lines[r.at])
	n := &Node{Kind: KindList, Ordered: first.ordered, Level: first.number, Tight: true, Line: r.lines[r.at].number}
	for next := r.at; next < len(r.lines); {
		m, ok := markOf(r.lines[next])
		if !ok || m.sign != first.sign || m.ordered != first.ordered {
			break
		}
		if next > r.at {
			n.Tight = false
		}
		r.at = next
		item, spaced := r.item(m)
		n.Children = append(n.Children, item)
		n.Tight = n.Tight && !spaced
		for next = r.at; next < len(r.lines) && r.lines[next].blank(); {
			next++
		}
	}
	return n
}

// item reads an item of a list, and whether blank lines are between its blocks.
func (r *blockReader) item(m mark) (n *Node, spaced bool) {
	l := r.lines[r.at]
	inner := blockReader{anchors: r.anchors, lines: []line{{l.text[min(m.width, len(l.text)):], l.number}}}
	for r.at++; r.at < len(r.lines); r.at++ {
		next, before := r.lines[r.at], inner.lines[len(inner.lines)-1]
		_, marked := markOf(next)
		lazy := !before.blank() && !begins(next) && !marked // the next line of a paragraph need not be indented
		if !next.blank() && next.indent() < m.width && !lazy {
			break
		}
		inner.lines = append(inner.lines, next.without(m.width))
	}
	for len(inner.lines) > 1 && inner.lines[len(inner.lines)-1].blank() {
		inner.lines = inner.lines[:len(inner.lines)-1]
		r.at--
	}
	return &Node{Kind: KindItem, Line: l.number, Children: inner.blocks()}, inner.spaced
}

// table reads a table, nil if there is none: below its head is a line of hyphens with as many cells.
func (r *blockReader) table() *Node {
	if r.at+1 >= len(r.lines) || !strings.Contains(r.lines[r.at].text, "|") {
		return nil
	}
	head, under := cells(r.lines[r.at].text), cells(r.lines[r.at+1].text)
	if len(head) != len(under) {
		return nil
	}
	for _, c := range under {
		if c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"); c == "" || strings.Trim(c, "-") != "" {
			return nil
		}
	}
	n := &Node{Kind: KindTable, Line: r.lines[r.at].number}
	for i := 0; r.at < len(r.lines) && !r.lines[r.at].blank() && (i < 2 || !begins(r.lines[r.at])); i, r.at = i+1, r.at+1 {
		if i == 1 {
			continue
		}
		l := r.lines[r.at]
		row, texts := &Node{Kind: KindRow, Line: l.number}, cells(l.text)
		for i := range head {
			c := &Node{Kind: KindCell, Line: l.number}
			if i < len(texts) {
				c.Children = inlines(texts[i], l.number)
			}
			row.Children = append(row.Children, c)
		}
		n.Children = append(n.Children, row)
	}
	return n
}

// cells returns the texts between the bars of a line. A bar behind a backslash is text.
func cells(text string) []string {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, "|")
	var list []string
	var cell strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], `\|`):
			cell.WriteByte('|')
			i++
		case text[i] == '\\' && i+1 < len(text):
			cell.WriteString(text[i : i+2])
			i++
		case text[i] == '|':
			list = append(list, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(text[i])
		}
	}
	if last := strings.TrimSpace(cell.String()); last != "" {
		list = append(list, last)
	}
	return list
}

func (r *blockReader) paragraph() *Node {
	n := &Node{Kind: KindParagraph, Line: r.lines[r.at].number}
	var texts []string
	for r.at < len(r.lines) && !r.lines[r.at].blank() && (len(texts) == 0 || !begins(r.lines[r.at])) {
		texts = append(texts, strings.TrimSpace(r.lines[r.at].text))
		r.at++
	}
	n.Children = inlines(strings.Join(texts, "\n"), n.Line)
	return n
}
