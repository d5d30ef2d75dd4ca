package website

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/docs/markdown"
)

// html returns the body of a page. Links that are no web addresses lead to the files of the site;
// what is not in the site is no link: the site is read without the repository.
func (b *builder) html(doc *markdown.Document, name string) template.HTML {
	p := &htmlPage{builder: b, name: name}
	p.blocks(doc.Root.Children)
	return template.HTML(p.out.String()) //nolint:gosec // htmlPage.text escapes all that is no tag
}

// An htmlPage collects the HTML of a page while the page is written.
type htmlPage struct {
	*builder
	name string
	out  strings.Builder
}

// raw writes tags.
func (p *htmlPage) raw(tags ...string) {
	for _, t := range tags {
		p.out.WriteString(t)
	}
}

// text writes text. Characters that would begin a tag are escaped.
func (p *htmlPage) text(text string) { p.out.WriteString(template.HTMLEscapeString(text)) }

func (p *htmlPage) blocks(list []*markdown.Node) {
	for _, n := range list {
		p.block(n)
	}
}

func (p *htmlPage) block(n *markdown.Node) {
	switch n.Kind {
	case markdown.KindHeading:
		p.heading(n)
	case markdown.KindParagraph:
		p.within("p", n.Children)
	case markdown.KindList:
		p.list(n)
	case markdown.KindQuotation:
		p.raw("<blockquote>\n")
		p.blocks(n.Children)
		p.raw("</blockquote>\n")
	case markdown.KindCodeBlock:
		p.code(n)
	case markdown.KindTable:
		p.table(n)
	case markdown.KindRule:
		p.raw("<hr>\n")
	}
}

// within writes text in an element.
func (p *htmlPage) within(element string, text []*markdown.Node) {
	p.raw("<", element, ">")
	p.inlines(text)
	p.raw("</", element, ">\n")
}

// heading writes a heading. Behind each but the title stands a link to itself.
func (p *htmlPage) heading(n *markdown.Node) {
	element := "h" + strconv.Itoa(n.Level)
	p.raw("<", element, ` id="`)
	p.text(n.Anchor)
	p.raw(`">`)
	p.inlines(n.Children)
	if n.Level > 1 {
		p.raw(`<a href="`, address("#"+n.Anchor), `" class="anchor" title="A link to this section">#</a>`)
	}
	p.raw("</", element, ">\n")
}

func (p *htmlPage) list(n *markdown.Node) {
	element, attribute := "ul", ""
	if n.Ordered {
		element = "ol"
		if n.Level != 1 {
			attribute = fmt.Sprintf(` start="%d"`, n.Level)
		}
	}
	p.raw("<", element, attribute, ">\n")
	for _, item := range n.Children {
		p.raw("<li>")
		for i, c := range item.Children {
			if n.Tight && c.Kind == markdown.KindParagraph {
				p.inlines(c.Children)
				continue
			}
			if i == 0 || n.Tight {
				p.raw("\n")
			}
			p.block(c)
		}
		p.raw("</li>\n")
	}
	p.raw("</", element, ">\n")
}

// code writes a block of code, below the name of the file that it is.
func (p *htmlPage) code(n *markdown.Node) {
	if file := n.File(); file != "" {
		p.raw(`<p class="file">`)
		p.text(file)
		p.raw("</p>\n")
	}
	language, _, _ := strings.Cut(n.Info, " ")
	p.raw(`<div class="code"><pre tabindex="0"><code`)
	if language != "" {
		p.raw(` class="language-`)
		p.text(language)
		p.raw(`"`)
	}
	p.raw(">", highlighted(language, n.Text), "</code></pre></div>\n")
}

func (p *htmlPage) table(n *markdown.Node) {
	p.raw("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>\n")
	for i, row := range n.Children {
		element := "td"
		if i == 0 {
			element = "th"
		}
		p.raw("<tr>\n")
		for _, c := range row.Children {
			p.within(element, c.Children)
		}
		p.raw("</tr>\n")
		if i == 0 {
			p.raw("</thead>\n<tbody>\n")
		}
	}
	p.raw("</tbody>\n</table></div>\n")
}

func (p *htmlPage) inlines(list []*markdown.Node) {
	for _, n := range list {
		switch n.Kind {
		case markdown.KindText:
			p.text(n.Text)
		case markdown.KindCodeSpan:
			p.raw("<code>")
			p.text(n.Text)
			p.raw("</code>")
		case markdown.KindEmphasis:
			element := map[int]string{1: "em", 2: "strong"}[n.Level]
			p.raw("<", element, ">")
			p.inlines(n.Children)
			p.raw("</", element, ">")
		case markdown.KindLink:
			p.link(n)
		default: // of a picture, the text
			p.inlines(n.Children)
		}
	}
}

// link writes a link, or its text if it leads to nothing that is in the site. One that has the
// name of a file for its text has the title of the page instead.
func (p *htmlPage) link(n *markdown.Node) {
	switch to := p.target(p.name, n.Destination); {
	case isAddress(n.Destination):
		p.raw(`<a href="`, address(n.Destination), `" rel="noreferrer">`)
	case to != "":
		p.raw(`<a href="`, address(to), `">`)
	default:
		p.inlines(n.Children)
		return
	}
	file, _, _ := strings.Cut(n.Destination, "#")
	named := len(n.Children) == 1 && n.Children[0].Kind == markdown.KindText && strings.HasSuffix(n.Children[0].Text, ".md")
	if named && strings.HasSuffix(file, ".md") && !isAddress(file) {
		p.text(p.Label(pageOf(p.name, file)))
	} else {
		p.inlines(n.Children)
	}
	p.raw("</a>")
}

// isAddress reports whether a link leads out into the web.
func isAddress(destination string) bool {
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if strings.HasPrefix(strings.ToLower(destination), scheme) {
			return true
		}
	}
	return false
}

// address returns a link as an attribute has it: bytes that RFC 3986 does not know are escaped.
func address(link string) string {
	var b strings.Builder
	for i := range len(link) {
		if c := link[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return template.HTMLEscapeString(b.String())
}
