// Package markup builds HTML and SVG from values. A page in a file has the elements as text; a live page gets them as
// JSON and builds them in the browser. Text has its own type, so it is never interpreted as markup.
//
//	markup.New("p", "class", "quiet").Add(markup.Text("a < b"))
//
// is <p class="quiet">a &lt; b</p> in HTML, and ["p",{"class":"quiet"},"a < b"] in JSON.
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

// An Element has a name, attributes and children, in order.
type Element struct {
	name     string
	attrs    []string // names and values alternating
	children []Node
}

// A Text is any text. It is escaped in HTML.
type Text string

// A StyleSheet is CSS for an element that is saved outside its page, such as a drawing. JSON leaves it out, because
// the page has its own.
type StyleSheet string

// New returns an element. attrs are names and values alternating. The name, the names of attributes, and the values
// of style and href must be literals.
func New(name string, attrs ...string) *Element {
	return &Element{name: name, attrs: attrs}
}

// Add appends children to an element, and returns it.
func (e *Element) Add(children ...Node) *Element {
	e.children = append(e.children, children...)
	return e
}

// Say appends texts to an element, and returns it.
func (e *Element) Say(texts ...string) *Element {
	for _, t := range texts {
		e.children = append(e.children, Text(t))
	}
	return e
}

// HTML returns the element as HTML; a drawing is also valid XML 1.0.
func (e *Element) HTML() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

// closed are the elements of SVG without children.
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

// escape writes a text for HTML and XML. Characters that XML cannot contain become U+FFFD.
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
		case r == '\r': // parsers would turn it into a newline
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

// MarshalJSON returns a list: name, attributes, children.
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
