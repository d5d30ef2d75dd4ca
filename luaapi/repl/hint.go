package repl

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/schema"
)

// Hint returns one line about what stands at the cursor, which is a byte of
// text, or "". It looks at nothing but what is known already.
func (d *Dialog) Hint(text string, at int) string {
	text = text[:at]
	if name, arg, ok := splitCommand(text); ok && !d.Pending() {
		if c := d.command(name); c != nil && c.Takes != ArgLua || arg == "" {
			if c == nil {
				return ""
			}
			return c.synopsis() + ": " + c.Doc
		}
		text = arg
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	c := cursorIn(d.pending+text, d.Type)
	if c.chained && !c.inString {
		return ""
	}
	d.document()
	if p := c.value(); p != nil {
		return p.Name + ": " + propertyLine(p)
	}
	if c.key() && !c.inString {
		if p := d.namedProperty(c); p != nil {
			return p.Name + ": " + propertyLine(p)
		}
	}
	if !c.inString && c.word != "" {
		if line := d.pathHint(c); line != "" {
			return line
		}
	}
	return d.frameHint(c)
}

// namedProperty returns the property whose name the word at the cursor is.
func (d *Dialog) namedProperty(c *cursor) *schema.Field {
	f := c.top()
	if f.object != nil {
		return f.object.Field(c.word)
	}
	for _, s := range f.typ.Properties() {
		if p := s.Field(c.word); p != nil {
			return p
		}
	}
	return nil
}

// pathHint returns a line about the name at the cursor.
func (d *Dialog) pathHint(c *cursor) string {
	name := strings.Join(append(append([]string(nil), c.path...), c.word), ".")
	if t := d.Type(name); t != nil {
		return name + ": " + firstSentence(t.Schema().Doc)
	}
	if branch, ok := strings.CutPrefix(name, "facts."); ok {
		if g, known := d.facts.Gatherer(branch); known && g.Doc != "" {
			return name + ": " + g.Doc
		}
		return ""
	}
	if c.method {
		if _, ok := first(d.follow(c.path)).(lua.LString); ok {
			name = "string." + c.word
		}
	}
	if t, ok := d.topic(name); ok {
		return t.signature + "  " + firstSentence(t.doc)
	}
	return ""
}

func first(v lua.LValue, _ string) lua.LValue { return v }

// frameHint returns a line about the declaration or the call that the cursor is
// in.
func (d *Dialog) frameHint(c *cursor) string {
	for i := len(c.frames) - 1; i >= 0; i-- {
		switch f := c.frames[i]; {
		case f.typ != nil:
			return f.typ.Name + ": " + firstSentence(f.typ.Schema().Doc)
		case f.call != "" && d.Type(f.call) == nil:
			if t, ok := d.topic(f.call); ok {
				return t.signature + "  " + firstSentence(t.doc)
			}
			if v, _ := d.follow(splitName(f.call)); v != nil {
				return d.valueDoc(f.call, v)
			}
			return ""
		}
	}
	return ""
}
