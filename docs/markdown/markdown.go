// Package markdown reads the pages of the documentation, and writes them for a terminal. Begin
// with [Parse].
package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Converter returns what reads Markdown and writes HTML. HTML within Markdown it leaves out.
func Converter(options ...goldmark.Option) goldmark.Markdown {
	return goldmark.New(append([]goldmark.Option{
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	}, options...)...)
}

// A Document is a page that was read.
type Document struct {
	Source []byte
	Root   ast.Node
}

// Parse reads a page. Every text is Markdown, so that there are no mistakes.
func Parse(source string) *Document {
	src := []byte(source)
	ctx := parser.NewContext(parser.WithIDs(anchors{}))
	return &Document{Source: src, Root: Converter().Parser().Parse(text.NewReader(src), parser.WithContext(ctx))}
}

// A Heading is one of a page.
type Heading struct {
	Level int // 1 is the title
	Text  string
	// Anchor is what stands behind # in a link to it.
	Anchor string
}

// Headings returns the headings of a page, in order.
func (d *Document) Headings() (list []Heading) {
	d.walk(func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			list = append(list, d.heading(h))
		}
	})
	return list
}

func (d *Document) heading(h *ast.Heading) Heading {
	anchor, _ := h.AttributeString("id")
	id, _ := anchor.([]byte)
	return Heading{Level: h.Level, Text: d.plain(h), Anchor: string(id)}
}

// A Link is one of a page.
type Link struct {
	Destination string
	Line        int // from 1
}

// Links returns the links of a page, and its pictures.
func (d *Document) Links() (list []Link) {
	d.walk(func(n ast.Node) {
		switch x := n.(type) {
		case *ast.Link:
			list = append(list, Link{string(x.Destination), d.line(n)})
		case *ast.Image:
			list = append(list, Link{string(x.Destination), d.line(n)})
		case *ast.AutoLink:
			list = append(list, Link{string(x.URL(d.Source)), d.line(n)})
		}
	})
	return list
}

// A Block is a block of code.
type Block struct {
	// Language is the first word behind the fence, "" if there is none or the block is indented.
	Language string
	// Note is what stands behind it.
	Note string
	Code string
	Line int // of its first line of code, from 1
}

// Blocks returns the blocks of code of a page.
func (d *Document) Blocks() (list []Block) {
	d.walk(func(n ast.Node) {
		switch x := n.(type) {
		case *ast.FencedCodeBlock:
			b := Block{Code: d.code(n), Line: d.line(n)}
			if x.Info != nil {
				b.Language, b.Note, _ = strings.Cut(string(x.Info.Segment.Value(d.Source)), " ")
				b.Note = strings.TrimSpace(b.Note)
			}
			list = append(list, b)
		case *ast.CodeBlock:
			list = append(list, Block{Code: d.code(n), Line: d.line(n)})
		}
	})
	return list
}

// File returns the name of the file that a block of code shows: what stands behind its language,
// "" if that is nothing, or part, which is said of what is no whole file.
func (d *Document) File(n ast.Node) string {
	x, ok := n.(*ast.FencedCodeBlock)
	if !ok || x.Info == nil {
		return ""
	}
	_, name, _ := strings.Cut(string(x.Info.Segment.Value(d.Source)), " ")
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
	d.walk(func(n ast.Node) {
		if n.Kind() == ast.KindCodeSpan {
			list = append(list, CodeSpan{d.plain(n), d.line(n)})
		}
	})
	return list
}

// A Section is what stands between two headings.
type Section struct {
	Heading
	// Body is its text without marks, with blanks between the words.
	Body string
}

// Sections returns the sections of a page, in order. What stands before the first heading is in
// none.
func (d *Document) Sections() (list []Section) {
	for n := d.Root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			list = append(list, Section{Heading: d.heading(h)})
			continue
		}
		if len(list) > 0 {
			s := &list[len(list)-1]
			s.Body = strings.Join(strings.Fields(s.Body+" "+d.plain(n)), " ")
		}
	}
	return list
}

// walk calls visit for every node, in the order of the text.
func (d *Document) walk(visit func(n ast.Node)) {
	_ = ast.Walk(d.Root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// plain returns the text of a node without marks.
func (d *Document) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch x := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(unescaped(x.Segment.Value(d.Source), n))
				if x.SoftLineBreak() || x.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(x.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(x.Label(d.Source))
			}
		default:
			if n.Type() == ast.TypeBlock && n.Lines() != nil && entering && n.FirstChild() == nil {
				b.WriteString(d.code(n))
			}
			if n.Type() == ast.TypeBlock && !entering {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// code returns the lines of a block.
func (d *Document) code(n ast.Node) string {
	var b bytes.Buffer
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		b.Write(line.Value(d.Source))
	}
	return b.String()
}

// line returns the line on which a node or what holds it begins.
func (d *Document) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if t := firstText(n); t >= 0 {
			return 1 + bytes.Count(d.Source[:t], []byte("\n"))
		}
	}
	return 1
}

// firstText returns where the text of a node begins, -1 if that is not known.
func firstText(n ast.Node) int {
	if t, ok := n.(*ast.Text); ok {
		return t.Segment.Start
	}
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if at := firstText(c); at >= 0 {
			return at
		}
	}
	return -1
}
