package repl

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A cursor describes the place of the cursor in a text that is being typed.
type cursor struct {
	text   string          // before the cursor
	tokens []syntax.Lexeme // of text, without space and comments
	frames []frame         // the brackets that are open, outermost first

	word  string // the typed part of a name
	start int    // the offset of word
	// inString says that the cursor is inside of a string; word is then the text between the string's
	// quote and the cursor.
	inString bool
	// path has the names before the word, as in facts.os., and method says that a colon precedes the
	// word.
	path   []string
	method bool
	// chained says that the word and its dot follow something that is no name, so that nothing is
	// known of it.
	chained bool
}

// A frame is an open bracket.
type frame struct {
	bracket byte
	at      int            // the index of its token
	typ     *resource.Type // properties of a declaration of this type are inside
	names   bool           // names of resources of typ may be inside, too
	object  *schema.Schema // properties of a table in a property are inside
	list    *schema.Field  // elements of this property are inside
	call    string         // arguments of this function are inside
}

// cursorIn returns the cursor at the end of text.
func cursorIn(text string, types func(string) *resource.Type) *cursor {
	c := &cursor{text: text, start: len(text)}
	all := syntax.Lexemes(text)
	if len(all) > 0 {
		switch last := all[len(all)-1]; {
		case last.Kind == syntax.Comment && (last.Open || last.End == len(text)):
			c.chained = true // a comment has no completions
			return c
		case last.Kind == syntax.String && last.Open && last.End == len(text):
			c.inString = true
			c.start = last.Start + 1
			if text[last.Start] == '[' {
				c.start += 1 + strings.IndexByte(text[last.Start+1:], '[')
			}
			all = all[:len(all)-1]
		case (last.Kind == syntax.Name || last.Kind == syntax.Keyword) && last.End == len(text):
			c.start = last.Start
			all = all[:len(all)-1]
		case last.Kind == syntax.Number && last.End == len(text):
			c.chained = true
		}
	}
	c.word = text[c.start:]
	c.tokens = slices.DeleteFunc(all, func(t syntax.Lexeme) bool { return t.Kind == syntax.Space || t.Kind == syntax.Comment })
	c.nest(types)
	if !c.inString {
		c.findPath()
	}
	return c
}

// at returns the text of a token, counted from the last, which is 1; "" if
// there is none.
func (c *cursor) at(n int) string { return c.tokenText(len(c.tokens) - n) }

func (c *cursor) tokenText(i int) string {
	if i < 0 || i >= len(c.tokens) {
		return ""
	}
	return c.text[c.tokens[i].Start:c.tokens[i].End]
}

func (c *cursor) kind(i int) syntax.Kind {
	if i < 0 || i >= len(c.tokens) {
		return syntax.Space
	}
	return c.tokens[i].Kind
}

// top returns the innermost open bracket.
func (c *cursor) top() frame {
	if len(c.frames) == 0 {
		return frame{}
	}
	return c.frames[len(c.frames)-1]
}

// nest finds the brackets that are open.
func (c *cursor) nest(types func(string) *resource.Type) {
	var closed frame // the last bracket that was closed
	for i, t := range c.tokens {
		if t.Kind != syntax.Symbol {
			continue
		}
		switch b := c.text[t.Start]; b {
		case '{', '(', '[':
			c.frames = append(c.frames, c.open(i, b, closed, types))
		case '}', ')', ']':
			if len(c.frames) > 0 {
				closed = c.top()
				c.frames = c.frames[:len(c.frames)-1]
			}
		}
	}
}

// open returns the frame of the bracket at token i.
func (c *cursor) open(i int, bracket byte, closed frame, types func(string) *resource.Type) frame {
	f := frame{bracket: bracket, at: i}
	typeAt := func(i int) *resource.Type {
		if name := c.dotted(i); name != "" {
			return types(name) // file or std.line
		}
		return nil
	}
	before := c.tokenText(i - 1)
	switch {
	case bracket == '(':
		f.call = c.dotted(i - 1)
		return f
	case bracket == '[':
		return f
	case typeAt(i-1) != nil: // file {
		f.typ, f.names = typeAt(i-1), true
	case c.kind(i-1) == syntax.String && typeAt(i-2) != nil: // file "/etc/motd" {
		f.typ = typeAt(i - 2)
	case before == "}" && closed.typ != nil && closed.names: // file { "/a", "/b" } {
		f.typ = closed.typ
	case before == "defaults" && c.tokenText(i-2) == "." && typeAt(i-3) != nil: // file.defaults {
		f.typ = typeAt(i - 3)
	case before == "," || before == "(":
		if p := c.top(); p.bracket == '(' && types(p.call) != nil { // file("/etc/motd", {
			f.typ, f.names = types(p.call), before == "("
		} else if p.list != nil {
			f.object = p.list.ElemObject()
		}
	case before == "{":
		if p := c.top(); p.list != nil {
			f.object = p.list.ElemObject()
		}
	case before == "=":
		if p := c.property(i - 2); p != nil {
			switch {
			case p.Object != nil:
				f.object = p.Object
			case p.Elem != nil:
				f.list = p
			}
		}
	}
	return f
}

// dotted returns the name that ends at token i with the names before it, as in string.format; "" if
// the token is no name.
func (c *cursor) dotted(i int) string {
	if c.kind(i) != syntax.Name {
		return ""
	}
	name := c.tokenText(i)
	for i -= 2; (c.tokenText(i+1) == "." || c.tokenText(i+1) == ":") && c.kind(i) == syntax.Name; i -= 2 {
		name = c.tokenText(i) + c.tokenText(i+1) + name
	}
	if c.tokenText(i+1) == "." || c.tokenText(i+1) == ":" {
		return "" // it does not follow a name
	}
	return name
}

// property returns the property whose name is token i, in the innermost open
// bracket.
func (c *cursor) property(i int) *schema.Field {
	if c.kind(i) != syntax.Name {
		return nil
	}
	f := c.top()
	if f.object != nil {
		return f.object.Field(c.tokenText(i))
	}
	if f.typ == nil {
		return nil
	}
	for _, s := range f.typ.Properties() {
		if p := s.Field(c.tokenText(i)); p != nil {
			return p
		}
	}
	return nil
}

// findPath reads the names and dots before the word.
func (c *cursor) findPath() {
	i := len(c.tokens) - 1
	sign := c.tokenText(i)
	if sign != "." && sign != ":" {
		return
	}
	c.method = sign == ":"
	for {
		name := i - 1
		if c.kind(name) == syntax.String && len(c.path) == 0 {
			c.path = []string{c.tokenText(name)}
			return
		}
		if c.kind(name) != syntax.Name {
			c.path, c.chained = nil, true
			return
		}
		c.path = append([]string{c.tokenText(name)}, c.path...)
		if i = name - 1; c.tokenText(i) != "." {
			c.chained = c.chained || c.tokenText(i) == ":"
			return
		}
	}
}

// key reports whether the word is the name of a property.
func (c *cursor) key() bool {
	f := c.top()
	if f.bracket != '{' || f.typ == nil && f.object == nil {
		return false
	}
	switch c.at(1) {
	case "{", ",", ";":
		return true
	}
	return false
}

// value returns the property whose value is the word, or has the word as an element.
func (c *cursor) value() *schema.Field {
	switch c.at(1) {
	case "=":
		return c.property(len(c.tokens) - 2)
	case "{", ",", ";":
		return c.top().list
	}
	return nil
}

// writtenProperties lists the properties that the innermost table has already.
func (c *cursor) writtenProperties() []string {
	f := c.top()
	var out []string
	depth := 0
	for i := f.at + 1; i < len(c.tokens); i++ {
		switch c.tokenText(i) {
		case "{", "(", "[":
			depth++
		case "}", ")", "]":
			depth--
		case "=":
			if depth == 0 && c.kind(i-1) == syntax.Name {
				out = append(out, c.tokenText(i-1))
			}
		}
	}
	return out
}

// function returns the name of the function whose argument the word is, as in
// fact("os.
func (c *cursor) function() string {
	if f := c.top(); c.at(1) == "(" && f.bracket == '(' {
		return f.call
	}
	if c.inString {
		return c.dotted(len(c.tokens) - 1)
	}
	return ""
}

// typeOfName returns the type of the resource whose name the word is, or nil.
func (c *cursor) typeOfName(types func(string) *resource.Type) *resource.Type {
	if f := c.top(); f.typ != nil && f.names && (c.at(1) == "{" || c.at(1) == ",") {
		return f.typ
	}
	if name := c.function(); name != "" {
		return types(name)
	}
	return nil
}
