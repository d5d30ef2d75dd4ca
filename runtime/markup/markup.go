// Package markup has elements of HTML and SVG as values. A page that is a file writes them as text;
// a page that lives gets them as JSON and makes elements of them. In neither is a text ever
// taken for markup, as it has a place of its own.
//
//	markup.New("p", "class", "quiet").Add(markup.Text("a < b"))
//
// is <p class="quiet">a &lt; b</p>, and ["p",{"class":"quiet"},"a < b"].
package markup

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A Node is an *Element, a Text or a StyleSheet.
type Node interface {
	write(b *strings.Builder)
}

// An Element has attributes and children, in their order.
type Element struct {
	name     string
	attrs    []string // names and values in turn
	children []Node
}

// A Text is text, whatever is in it.
type Text string

// A StyleSheet is CSS of this program for an element that leaves the page that it was made for. As
// JSON it is nothing: pages have their own.
type StyleSheet string

// New returns an element. Attrs are names and values in turn. Name, names of attributes, and
// values of style and href are words of this program.
func New(name string, attrs ...string) *Element {
	return &Element{name: name, attrs: attrs}
}

// Add puts nodes behind the children of an element, and returns it.
func (e *Element) Add(children ...Node) *Element {
	e.children = append(e.children, children...)
	return e
}

// Say adds texts, and returns the element.
func (e *Element) Say(texts ...string) *Element {
	for _, t := range texts {
		e.children = append(e.children, Text(t))
	}
	return e
}

// HTML returns the element as text of HTML and, for drawings, of XML 1.0.
func (e *Element) HTML() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

// closed are the elements of SVG that never have children.
var closed = map[string]bool{"path": true, "rect": true, "circle": true, "line": true}

func (e *Element) write(b *strings.Builder) {
	b.WriteString("<" + e.name)
	for i := 0; i+1 < len(e.attrs); i += 2 {
		b.WriteString(" " + e.attrs[i] + `="`)
		escape(b, e.attrs[i+1])
		b.WriteByte('"')
	}
	if closed[e.name] {
		b.WriteString("/>")
		return
	}
	b.WriteByte('>')
	for _, c := range e.children {
		c.write(b)
	}
	b.WriteString("</" + e.name + ">")
}

func (t Text) write(b *strings.Builder) { escape(b, string(t)) }

func (s StyleSheet) write(b *strings.Builder) { b.WriteString("<style>" + string(s) + "</style>") }

// escape writes a text for HTML and XML. What XML cannot hold becomes U+FFFD.
func escape(b *strings.Builder, text string) {
	for i, r := range text {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\r': // parsers make it a newline
			b.WriteString("&#xD;")
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		case r == utf8.RuneError:
			b.WriteRune(r)
		default:
			b.WriteString(text[i : i+utf8.RuneLen(r)])
		}
	}
}

// MarshalJSON returns a list of the name, the attributes and the children.
func (e *Element) MarshalJSON() ([]byte, error) {
	attrs := make(map[string]string, len(e.attrs)/2)
	for i := 0; i+1 < len(e.attrs); i += 2 {
		attrs[e.attrs[i]] = e.attrs[i+1]
	}
	list := []any{e.name, attrs}
	for _, c := range e.children {
		if _, ok := c.(StyleSheet); !ok {
			list = append(list, c)
		}
	}
	return json.Marshal(list)
}
