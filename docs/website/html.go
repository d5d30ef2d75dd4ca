package website

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/luaccm/ccm/docs/markdown"
)

// html returns the body of a page. HTML in the page is left out, and links that are no web
// addresses lose their targets.
func (b *builder) html(doc *markdown.Document, name string) (template.HTML, error) {
	b.source = doc.Source
	b.relink(doc.Root, name)
	anchor(doc.Root)
	caption(doc, doc.Root)
	var out bytes.Buffer
	if err := markdown.Converter().Renderer().Render(&out, doc.Source, doc.Root); err != nil {
		return "", err
	}
	// Escaped text has no <table>, so that this is one of ours.
	text := strings.ReplaceAll(out.String(), "<table>", "<div class=\"scroll\" tabindex=\"0\"><table>")
	text = strings.ReplaceAll(text, "</table>", "</table></div>")
	text = strings.ReplaceAll(text, "<pre>", "<pre tabindex=\"0\">")
	return template.HTML(text), nil //nolint:gosec // goldmark has escaped it
}

// relink has links lead to the files of the site. What is not in the site is no link: the site
// is read without the repository. Pictures become their texts.
func (b *builder) relink(n ast.Node, from string) {
	for c := n.FirstChild(); c != nil; {
		next := c.NextSibling()
		switch x := c.(type) {
		case *ast.Link:
			if isAddress(string(x.Destination)) {
				x.SetAttributeString("rel", []byte("noreferrer"))
			} else if to := b.target(from, string(x.Destination)); to != "" {
				b.rename(x, from)
				x.Destination = []byte(to)
			} else {
				unwrap(n, c)
			}
		case *ast.Image:
			unwrap(n, c)
		}
		b.relink(c, from)
		c = next
	}
}

// rename gives a link that has the name of a file for its text the title of the page instead.
func (b *builder) rename(l *ast.Link, from string) {
	text, ok := l.FirstChild().(*ast.Text)
	file, _, _ := strings.Cut(string(l.Destination), "#")
	name := pageOf(from, file)
	if !ok || text.NextSibling() != nil || !strings.HasSuffix(file, ".md") || !strings.HasSuffix(string(text.Segment.Value(b.source)), ".md") {
		return
	}
	l.RemoveChildren(l)
	l.AppendChild(l, ast.NewString([]byte(b.Label(name))))
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

// unwrap puts the children of a node into its place.
func unwrap(parent, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		n.RemoveChild(n, c)
		parent.InsertBefore(parent, n, c)
	}
	parent.RemoveChild(parent, n)
}

// caption puts the name of the file that a block of code is above the block.
func caption(doc *markdown.Document, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if file := doc.File(c); file != "" {
			p := ast.NewParagraph()
			p.SetAttributeString("class", []byte("file"))
			p.AppendChild(p, ast.NewString([]byte(file)))
			n.InsertBefore(n, c, p)
		}
		caption(doc, c)
	}
}

// anchor puts a link to itself behind each heading but the title.
func anchor(root ast.Node) {
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Level == 1 {
			continue
		}
		if id, _ := h.AttributeString("id"); id != nil {
			l := ast.NewLink()
			l.Destination = append([]byte("#"), id.([]byte)...)
			l.SetAttributeString("class", []byte("anchor"))
			l.SetAttributeString("title", []byte("A link to this section"))
			l.AppendChild(l, ast.NewString([]byte("#")))
			h.AppendChild(h, l)
		}
	}
}
