package repl

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// A topic has documentation under a name.
type topic struct {
	name            string // str.split; for builtins the beginning of the signature
	signature       string
	doc             string
	example, result string
	library         bool
}

// A manual has the documentation of all names at the prompt.
type manual struct {
	env       *environment
	topicList []topic // nil until the first use
}

// standardTopics returns the topics that every dialog has, in order of name.
var standardTopics = sync.OnceValue(func() []topic {
	list := slices.Clone(builtins)
	for _, l := range std.Libraries() {
		table := false
		for _, f := range l.Funcs {
			name := f.Name()
			if name == l.Name {
				list = append(list, topic{signature: f.Signature, doc: f.Doc, example: f.Example, result: f.Result})
				continue
			}
			table = true
			list = append(list, topic{signature: l.Name + "." + f.Signature, doc: f.Doc, example: f.Example, result: f.Result})
		}
		for _, v := range l.Values {
			table = true
			list = append(list, topic{signature: l.Name + "." + v.Name, doc: v.Doc, example: v.Example, result: v.Result})
		}
		if table {
			list = append(list, topic{signature: l.Name, doc: l.Doc, library: true})
		}
	}
	return list
})

// topics returns all topics in order of name.
func (m *manual) topics() []topic {
	if m.topicList != nil {
		return m.topicList
	}
	list := slices.Clone(standardTopics())
	for _, f := range m.env.opts.Functions {
		list = append(list, topic{signature: f.Signature, doc: f.Doc})
	}
	for i := range list {
		list[i].name, _, _ = strings.Cut(list[i].signature, "(")
	}
	slices.SortStableFunc(list, func(a, b topic) int { return strings.Compare(a.name, b.name) })
	// Of two topics with one name the first one counts, which is shorter.
	m.topicList = slices.CompactFunc(list, func(a, b topic) bool { return a.name == b.name })
	return m.topicList
}

// topic returns the topic of that name.
func (m *manual) topic(name string) (topic, bool) {
	list := m.topics()
	i, ok := slices.BinarySearchFunc(list, name, func(t topic, name string) int { return strings.Compare(t.name, name) })
	if !ok {
		return topic{}, false
	}
	return list[i], true
}

// topicLine returns one line about a name, or "".
func (m *manual) topicLine(name string) string {
	t, ok := m.topic(name)
	if !ok {
		return ""
	}
	if strings.Contains(t.signature, "(") {
		return t.signature
	}
	return words.FirstSentence(t.doc)
}

// valueDoc returns one line about a value, which is called name.
func (m *manual) valueDoc(name string, v lua.LValue) string {
	if line := m.topicLine(name); line != "" {
		return line
	}
	switch v := v.(type) {
	case *lua.LFunction:
		return m.functionLine(name, v)
	case *lua.LTable:
		return "table"
	case *lua.LUserData:
		if id, ok := m.env.console.Handle(v); ok {
			return id
		}
		return "live value"
	case lua.LString:
		return short(string(v))
	}
	return v.String()
}

// functionLine returns the signature of a function that is called name.
func (m *manual) functionLine(name string, fn *lua.LFunction) string {
	f, ok := m.env.console.Function(fn)
	if !ok {
		return name + "(...)"
	}
	return name + "(" + strings.Join(f.Parameters, ", ") + ")"
}

// propertyLine returns one line about a property.
func propertyLine(p *schema.Field) string {
	line := p.Describe()
	if p.Required {
		line += ", required"
	} else if p.Default != "" {
		line += ", default " + p.Default
	}
	if p.Doc != "" {
		line += ": " + words.FirstSentence(p.Doc)
	}
	return line
}

// splitName returns the names in a.b.c and a:b.
func splitName(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == ':' })
}

// topicText returns all about a topic.
func (m *manual) topicText(t topic) string {
	var b strings.Builder
	fmt.Fprintln(&b, t.signature)
	fmt.Fprintln(&b, terminal.Wrap(t.doc, "  ", terminal.TextWidth))
	if t.example != "" {
		fmt.Fprintf(&b, "\n%s\n", indent(t.example, "  "))
		fmt.Fprintf(&b, "%s\n", indent(t.result, "  --> "))
	}
	if t.library || t.name == "ccm" {
		fmt.Fprintln(&b)
		for _, f := range m.topics() {
			if rest, ok := strings.CutPrefix(f.name, t.name+"."); ok && rest != "" {
				fmt.Fprintf(&b, "  %-20s %s\n", f.name, words.Shorten(words.FirstSentence(f.doc), terminal.TextWidth-23))
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// functionText returns all about a function that is called name.
func (m *manual) functionText(name string, fn *lua.LFunction) string {
	text := m.functionLine(name, fn)
	if f, ok := m.env.console.Function(fn); ok {
		if f.Comment != "" {
			text += "\n" + indent(f.Comment, "  ")
		}
		text += fmt.Sprintf("\n  %s:%d", f.File, f.Line)
	}
	return text
}
