// Package markdown reads the pages of the documentation, and writes them for a terminal. Begin
// with [Parse].
//
// It reads what the pages use of CommonMark (spec.commonmark.org) and of its tables
// (github.github.com/gfm): headings, paragraphs, lists, quotations, code, tables, rules, comments;
// within them code, emphasis, links, pictures and addresses between angle brackets. HTML is text.
// A test compares its result for every page with that of goldmark, a full CommonMark reader.
//
// Why the program has its own reader: goldmark adds 0.78 MB to it and takes 1.1 ms of the 4.8 ms of each start, because
// its packages compile regular expressions and make tables when they are initialized. Pages that are read by goldmark
// beforehand and embedded would need a second file of each page in the repository, which every edit of a page changes.
package markdown

import (
	"slices"
	"strings"
)

// A Kind is the kind of a node of a page.
type Kind int

// The kinds of nodes: blocks, then the nodes within the text of a block.
const (
	KindPage      Kind = iota
	KindHeading        // Level, Anchor
	KindParagraph      // also the text of an item of a list
	KindList           // Ordered, Level is the first number, Tight; of items
	KindItem
	KindQuotation
	KindCodeBlock // Text, Info
	KindTable     // of rows, the first of which is the head
	KindRow       // of cells
	KindCell
	KindRule

	KindText     // Text
	KindCodeSpan // Text
	KindEmphasis // Level: 2 is strong
	KindLink     // Destination
	KindImage    // Destination
)

// A Node is a piece of a page.
type Node struct {
	Kind        Kind
	Children    []*Node
	Text        string // without the marks of Markdown
	Info        string // the text behind the fence of a block of code
	Destination string
	Anchor      string // the text behind # in a link to a heading
	Level       int
	Ordered     bool
	Tight       bool // has no blank lines
	Line        int  // on which it begins, from 1; of a block of code, its first line of code
}

// A Document is a page that was read.
type Document struct{ Root *Node }

// Parse reads a page. Every text is Markdown, so that there are no mistakes.
func Parse(source string) *Document {
	r := blockReader{anchors: anchors{}}
	text := strings.TrimSuffix(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	for i, text := range strings.Split(text, "\n") {
		r.lines = append(r.lines, line{text, i + 1})
	}
	return &Document{&Node{Kind: KindPage, Children: r.blocks(), Line: 1}}
}

// A Heading is a heading of a page.
type Heading struct {
	Level int // 1 is the title
	Text  string
	// Anchor is the text behind # in a link to the heading.
	Anchor string
}

// Headings returns the headings of a page, in order.
func (d *Document) Headings() (list []Heading) {
	for n := range d.Root.all {
		if n.Kind == KindHeading {
			list = append(list, n.heading())
		}
	}
	return list
}

func (n *Node) heading() Heading { return Heading{n.Level, n.Plain(), n.Anchor} }

// A Link is a link or a picture of a page.
type Link struct {
	Destination string
	Line        int // from 1
}

// Links returns the links of a page, and its pictures.
func (d *Document) Links() (list []Link) {
	for n := range d.Root.all {
		if n.Kind == KindLink || n.Kind == KindImage {
			list = append(list, Link{n.Destination, n.Line})
		}
	}
	return list
}

// A Block is a block of code.
type Block struct {
	// Language is the first word behind the fence. It is "" if there is no word or no fence.
	Language string
	// Note is the text behind the language.
	Note string
	Code string
	Line int // of its first line of code, from 1
}

// Blocks returns the blocks of code of a page.
func (d *Document) Blocks() (list []Block) {
	for n := range d.Root.all {
		if n.Kind == KindCodeBlock {
			language, note, _ := strings.Cut(n.Info, " ")
			list = append(list, Block{language, strings.TrimSpace(note), n.Text, n.Line})
		}
	}
	return list
}

// File returns the name of the file that a block of code shows, which is its [Block.Note]. It
// returns "" if there is no note, or if the note is part: then the block shows a part of a file.
func (n *Node) File() string {
	_, name, _ := strings.Cut(n.Info, " ")
	if name = strings.TrimSpace(name); name == "part" {
		return ""
	}
	return name
}

// A CodeSpan is a piece of code within a text.
type CodeSpan struct {
	Text string
	Line int // from 1
}

// CodeSpans returns the pieces of code within the text of a page.
func (d *Document) CodeSpans() (list []CodeSpan) {
	for n := range d.Root.all {
		if n.Kind == KindCodeSpan {
			list = append(list, CodeSpan{strings.TrimSpace(n.Text), n.Line})
		}
	}
	return list
}

// A Section is the text between two headings.
type Section struct {
	Heading
	// Body is its text without marks, with blanks between the words.
	Body string
}

// Sections returns the sections of a page, in order. Text before the first heading is in no
// section.
func (d *Document) Sections() (list []Section) {
	var body []string
	end := func() {
		if len(list) > 0 {
			list[len(list)-1].Body = strings.Join(body, " ")
		}
		body = nil
	}
	for _, n := range d.Root.Children {
		if n.Kind == KindHeading {
			end()
			list = append(list, Section{Heading: n.heading()})
			continue
		}
		body = append(body, strings.Fields(n.Plain())...)
	}
	end()
	return list
}

// Only returns the part of a page below one heading, with that heading and those below it; nil if no heading has the
// anchor.
func (d *Document) Only(anchor string) *Document {
	from := slices.IndexFunc(d.Root.Children, func(n *Node) bool { return n.Kind == KindHeading && n.Anchor == anchor })
	if from < 0 {
		return nil
	}
	part := d.Root.Children[from:]
	level := part[0].Level
	if end := slices.IndexFunc(part[1:], func(n *Node) bool { return n.Kind == KindHeading && n.Level <= level }); end >= 0 {
		part = part[:1+end]
	}
	return &Document{&Node{Kind: KindPage, Children: part, Line: part[0].Line}}
}

// all yields a node and those within it, in the order of the text.
func (n *Node) all(yield func(n *Node) bool) {
	n.visit(yield)
}

func (n *Node) visit(yield func(n *Node) bool) bool {
	return yield(n) && !slices.ContainsFunc(n.Children, func(c *Node) bool { return !c.visit(yield) })
}

// Plain returns the text of a node without marks.
func (n *Node) Plain() string {
	var b strings.Builder
	n.plain(&b)
	return strings.TrimSpace(b.String())
}

func (n *Node) plain(b *strings.Builder) {
	b.WriteString(strings.ReplaceAll(n.Text, "\n", map[bool]string{true: "\n", false: " "}[n.Kind == KindCodeBlock]))
	for _, c := range n.Children {
		c.plain(b)
	}
	if n.Kind < KindText {
		b.WriteByte(' ')
	}
}
