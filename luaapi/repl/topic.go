package repl

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/schema"
)

// A topic is something that documentation can be asked for by its name.
type topic struct {
	name            string // str.split; of a builtin what its signature begins with
	signature       string
	doc             string
	example, result string
	library         bool
}

// shipped returns the topics that every dialog has, in order of name.
var shipped = sync.OnceValue(func() []topic {
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
func (d *Dialog) topics() []topic {
	if d.allTopics != nil {
		return d.allTopics
	}
	list := slices.Clone(shipped())
	for _, f := range d.opts.Functions {
		list = append(list, topic{signature: f.Signature, doc: f.Doc})
	}
	for i := range list {
		list[i].name, _, _ = strings.Cut(list[i].signature, "(")
	}
	slices.SortStableFunc(list, func(a, b topic) int { return strings.Compare(a.name, b.name) })
	// What two places document is documented by the first, which is the shorter.
	d.allTopics = slices.CompactFunc(list, func(a, b topic) bool { return a.name == b.name })
	return d.allTopics
}

// topic returns the topic of that name.
func (d *Dialog) topic(name string) (topic, bool) {
	list := d.topics()
	i, ok := slices.BinarySearchFunc(list, name, func(t topic, name string) int { return strings.Compare(t.name, name) })
	if !ok {
		return topic{}, false
	}
	return list[i], true
}

// topicLine returns one line about a name, or "".
func (d *Dialog) topicLine(name string) string {
	t, ok := d.topic(name)
	if !ok {
		return ""
	}
	if strings.Contains(t.signature, "(") {
		return t.signature
	}
	return firstSentence(t.doc)
}

// valueDoc returns one line about a value, which is called name.
func (d *Dialog) valueDoc(name string, v lua.LValue) string {
	if line := d.topicLine(name); line != "" {
		return line
	}
	switch v := v.(type) {
	case *lua.LFunction:
		return d.functionLine(name, v)
	case *lua.LTable:
		return "table"
	case *lua.LUserData:
		if id, ok := d.session.Handle(v); ok {
			return id
		}
		return "live value"
	case lua.LString:
		return short(string(v))
	}
	return v.String()
}

// functionLine returns the signature of a function that is called name.
func (d *Dialog) functionLine(name string, fn *lua.LFunction) string {
	f, ok := d.session.Function(fn)
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
		line += ": " + firstSentence(p.Doc)
	}
	return line
}

// firstSentence returns the first sentence of a text on one line.
func firstSentence(doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	for at := 0; ; {
		i := strings.Index(doc[at:], ". ")
		if i < 0 {
			return doc
		}
		at += i + 2
		if at < len(doc) && doc[at] >= 'A' && doc[at] <= 'Z' {
			return doc[:at-1]
		}
	}
}

// explain prints the documentation of a topic: a command, a type or one of its
// properties, a fact, a function, a variable.
func (d *Dialog) explain(name string) error {
	d.document()
	name = strings.TrimSpace(name)
	if name == "" {
		return d.help("")
	}
	if cmd, ok := strings.CutPrefix(name, "."); ok {
		return d.help(cmd)
	}
	typ, _, _ := strings.Cut(name, ".")
	if d.registry.Type(typ) != nil {
		if text, ok := d.opts.Reference(name); ok {
			d.print(text)
			return nil
		}
	}
	if branch, ok := strings.CutPrefix(name, "facts."); ok {
		return d.explainFact(branch)
	}
	t, known := d.topic(strings.ReplaceAll(name, ":", "."))
	if known {
		d.explainTopic(t)
		return nil
	}
	v, _ := d.follow(splitName(name))
	if v == nil {
		return d.noTopic(name)
	}
	if fn, ok := v.(*lua.LFunction); ok {
		d.explainFunction(name, fn)
		return nil
	}
	d.print(d.show(v))
	return nil
}

// splitName returns the names in a.b.c and a:b.
func splitName(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == ':' })
}

func (d *Dialog) explainTopic(t topic) {
	var b strings.Builder
	fmt.Fprintln(&b, t.signature)
	fmt.Fprintln(&b, wrap(t.doc, "  "))
	if t.example != "" {
		fmt.Fprintf(&b, "\n%s\n", indent(t.example, "  "))
		fmt.Fprintf(&b, "%s\n", indent(t.result, "  --> "))
	}
	if t.library || t.name == "ccm" {
		fmt.Fprintln(&b)
		for _, f := range d.topics() {
			if rest, ok := strings.CutPrefix(f.name, t.name+"."); ok && rest != "" {
				fmt.Fprintf(&b, "  %-20s %s\n", f.name, cutTo(firstSentence(f.doc), columns-23))
			}
		}
	}
	d.print(strings.TrimRight(b.String(), "\n"))
}

func (d *Dialog) explainFunction(name string, fn *lua.LFunction) {
	text := d.functionLine(name, fn)
	if f, ok := d.session.Function(fn); ok {
		if f.Comment != "" {
			text += "\n" + indent(f.Comment, "  ")
		}
		text += fmt.Sprintf("\n  %s:%d", f.File, f.Line)
	}
	d.print(text)
}

// noTopic is the error about a name that nothing is known of.
func (d *Dialog) noTopic(name string) error {
	known := append(d.session.GlobalNames(), d.registry.TypeNames()...)
	for _, t := range d.topics() {
		known = append(known, t.name)
	}
	return unknown("documentation of "+name, name, known)
}
