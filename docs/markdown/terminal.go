package markdown

import (
	"io"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/terminal"
)

// Terminal is how a page looks on a terminal.
type Terminal struct {
	Columns int  // a line has at most as many, but for code and words that are longer
	Styled  bool // headings, code and links have styles; otherwise they have marks
	// Topic returns the topic of the page to which a link leads. If Topic is nil or returns "", the
	// destination of the link is left out.
	Topic func(destination string) string
	// Command is the command that prints a page, given its topic. It replaces the text of a link
	// if that is the name of the page's file.
	Command string
}

// Write writes a page to w.
func (t Terminal) Write(w io.Writer, d *Document) error {
	_, err := terminal.Fprint(w, t.Text(d))
	return err
}

// Text returns a page.
func (t Terminal) Text(d *Document) terminal.Text {
	p := &page{Terminal: t}
	p.blocks(d.Root, "", "", false)
	return p.out.Text()
}

// A page collects the text of a page while the page is written.
type page struct {
	Terminal
	out terminal.Buffer
}

// blocks writes the blocks within a node. The first line begins with first, all others with
// indent. There are blank lines between the blocks unless they are tight.
func (p *page) blocks(parent *Node, first, indent string, tight bool) {
	for i, n := range parent.Children {
		if i > 0 && !tight {
			p.line(strings.TrimRight(indent, " "))
		}
		p.block(n, first, indent)
		first = indent
	}
}

func (p *page) line(text string) { p.out.Printf("%s\n", text) }

// block writes a block.
func (p *page) block(n *Node, first, indent string) {
	switch n.Kind {
	case KindHeading:
		p.heading(n)
	case KindParagraph:
		p.paragraph(p.words(n), first, indent, "")
	case KindCodeBlock:
		p.code(n, first, indent)
	case KindList:
		p.list(n, first, indent)
	case KindQuotation:
		p.blocks(n, first+"> ", indent+"> ", false)
	case KindRule:
		p.line(first + strings.Repeat("-", max(3, min(p.Columns, terminal.TextWidth)-len(first))))
	case KindTable:
		p.table(n, first, indent)
	}
}

// heading writes a heading: in bold, or below it a line of = or -.
func (p *page) heading(h *Node) {
	words := p.words(h)
	if p.Styled {
		p.paragraph(words, "", "", terminal.Bold)
		return
	}
	if h.Level > 2 {
		p.paragraph(words, strings.Repeat("#", h.Level)+" ", "    ", "")
		return
	}
	p.paragraph(words, "", "", "")
	p.line(strings.Repeat([]string{"=", "-"}[h.Level-1], max(3, min(p.Columns, width(words)))))
}

// code writes a block of code, indented, below the name of the file that it is. Its lines are not
// broken, so that they can be copied.
func (p *page) code(n *Node, first, indent string) {
	if file := n.File(); file != "" {
		p.out.Printf("%s%s:\n", first, file)
		first = indent
	}
	for line := range strings.Lines(n.Text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
		if line == "" {
			p.line(strings.TrimRight(first, " "))
		} else {
			p.out.Printf("%s    %s\n", first, p.style(terminal.Cyan).Paint(terminal.LineText(line)))
		}
		first = indent
	}
}

func (p *page) style(s terminal.Style) terminal.Style { return s.On(p.Styled) }

// list writes a list. Its marks are hyphens or numbers.
func (p *page) list(l *Node, first, indent string) {
	for i, n := range l.Children {
		mark := "- "
		if l.Ordered {
			mark = strconv.Itoa(l.Level+i) + ". "
		}
		if i > 0 && !l.Tight {
			p.line(strings.TrimRight(indent, " "))
		}
		p.blocks(n, first+mark, indent+strings.Repeat(" ", len(mark)), l.Tight)
		first = indent
	}
}

// paragraph writes words, as many on a line as there is room for.
func (p *page) paragraph(words []word, first, indent string, style terminal.Style) {
	for i, line := range folded(words, p.Columns-len(first)) {
		if i > 0 {
			first = indent
		}
		p.out.Printf("%s%s\n", first, p.paint(line, style))
	}
}

// paint returns a line of words.
func (p *page) paint(line []word, style terminal.Style) terminal.Text {
	var out []terminal.Text
	for i, w := range line {
		if i > 0 {
			out = append(out, p.style(style).Paint(terminal.LineText(" ")))
		}
		for _, part := range w {
			s := part.style
			if s == "" {
				s = style
			}
			out = append(out, p.style(s).Paint(terminal.LineText(part.text)))
		}
	}
	return terminal.Concat(out...)
}

// A word is the text between two places at which a line may be broken.
type word []part

type part struct {
	text  string
	style terminal.Style
}

// width returns how many columns words take on one line.
func width(words []word) int {
	n := max(0, len(words)-1)
	for _, w := range words {
		n += w.width()
	}
	return n
}

func (w word) width() (n int) {
	for _, part := range w {
		n += terminal.Width(terminal.LineText(part.text))
	}
	return n
}

// folded returns words as lines of at most that many columns.
func folded(words []word, columns int) (lines [][]word) {
	var line []word
	used := 0
	for _, w := range words {
		n := w.width()
		if len(line) > 0 && used+1+n > columns {
			lines = append(lines, line)
			line, used = nil, 0
		}
		if len(line) > 0 {
			used++
		}
		line, used = append(line, w), used+n
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	return lines
}

// longestUnbroken is how long code in a text may be that is not broken at its blanks.
const longestUnbroken = 40

// words returns the words of the text in a node.
func (p *page) words(n *Node) []word {
	s := &splitter{page: p}
	s.inline(n, "")
	s.end()
	return s.words
}

// A splitter collects words.
type splitter struct {
	*page
	words   []word
	current word
}

func (s *splitter) end() {
	if len(s.current) > 0 {
		s.words, s.current = append(s.words, s.current), nil
	}
}

// add appends a text, of which the blanks end words.
func (s *splitter) add(text string, style terminal.Style) {
	for i, piece := range strings.Split(strings.ReplaceAll(text, "\n", " "), " ") {
		if i > 0 {
			s.end()
		}
		if piece != "" {
			s.current = append(s.current, part{piece, style})
		}
	}
}

// inline appends the texts in a node.
func (s *splitter) inline(n *Node, style terminal.Style) {
	for _, c := range n.Children {
		switch c.Kind {
		case KindText:
			s.add(c.Text, style)
		case KindCodeSpan:
			s.command(strings.TrimSpace(c.Text))
		case KindEmphasis:
			s.emphasis(c)
		case KindLink:
			s.link(c, style)
		default:
			s.inline(c, style)
		}
	}
}

// emphasis appends a text that stands out: in bold, or between marks.
func (s *splitter) emphasis(n *Node) {
	mark := "*"
	if s.Styled {
		mark = ""
	}
	s.add(mark, "")
	s.inline(n, terminal.Bold)
	s.add(mark, "")
}

// command appends a text as a piece of code.
func (s *splitter) command(text string) {
	mark := "`"
	if s.Styled {
		mark = ""
	}
	if len(text) > longestUnbroken {
		s.add(mark+text+mark, terminal.Cyan)
		return
	}
	s.current = append(s.current, part{mark + text + mark, terminal.Cyan})
}

// link appends the text of a link, and where it leads unless the text says that.
func (s *splitter) link(l *Node, style terminal.Style) {
	text, destination := l.Plain(), l.Destination
	where := ""
	if strings.Contains(destination, "://") {
		where = destination
	} else if s.Topic != nil {
		where = s.Topic(destination)
		if where != "" && s.Command != "" && strings.HasSuffix(text, ".md") {
			s.command(s.Command + " " + where)
			return
		}
	}
	s.inline(l, terminal.Blue)
	if where != "" && !strings.Contains(strings.ToLower(text), where) {
		s.add(" ("+where+")", style)
	}
}
