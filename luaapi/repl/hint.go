package repl

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/words"
)

// hint returns one line about the word at the cursor, an offset in text, or "". Pending are the
// earlier lines of an unfinished text. It uses only what is known already.
func (cm *completer) hint(pending, text string, at int) string {
	text = text[:at]
	if name, arg, ok := splitCommand(text); ok && pending == "" {
		if c := findCommand(cm.commands, name); c != nil && c.Takes != ArgLua || arg == "" {
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
	c := cursorIn(pending+text, cm.env.constructed)
	if c.chained && !c.inString {
		return ""
	}
	cm.env.document()
	if p := c.value(); p != nil {
		return p.Name + ": " + propertyLine(p)
	}
	if c.key() && !c.inString {
		if p := cm.namedProperty(c); p != nil {
			return p.Name + ": " + propertyLine(p)
		}
	}
	if !c.inString && c.word != "" {
		if line := cm.pathHint(c); line != "" {
			return line
		}
	}
	return cm.frameHint(c)
}

// namedProperty returns the property whose name the word at the cursor is.
func (cm *completer) namedProperty(c *cursor) *schema.Field {
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
func (cm *completer) pathHint(c *cursor) string {
	name := strings.Join(append(append([]string(nil), c.path...), c.word), ".")
	if t := cm.env.constructed(name); t != nil {
		return name + ": " + words.FirstSentence(t.Schema().Doc)
	}
	if branch, ok := strings.CutPrefix(name, "facts."); ok {
		if g, known := cm.env.facts.Gatherer(branch); known && g.Doc != "" {
			return name + ": " + g.Doc
		}
		return ""
	}
	if c.method {
		if _, ok := first(cm.env.follow(c.path)).(lua.LString); ok {
			name = "string." + c.word
		}
	}
	if t, ok := cm.manual.topic(name); ok {
		return t.signature + "  " + words.FirstSentence(t.doc)
	}
	return ""
}

func first(v lua.LValue, _ string) lua.LValue { return v }

// frameHint returns a line about the declaration or the call that the cursor is
// in.
func (cm *completer) frameHint(c *cursor) string {
	for i := len(c.frames) - 1; i >= 0; i-- {
		switch f := c.frames[i]; {
		case f.typ != nil:
			return f.typ.Name + ": " + words.FirstSentence(f.typ.Schema().Doc)
		case f.call != "" && cm.env.constructed(f.call) == nil:
			if t, ok := cm.manual.topic(f.call); ok {
				return t.signature + "  " + words.FirstSentence(t.doc)
			}
			if v, _ := cm.env.follow(splitName(f.call)); v != nil {
				return cm.manual.valueDoc(f.call, v)
			}
			return ""
		}
	}
	return ""
}
