package repl

import (
	"path"
	"slices"
	"strings"
)

// completeCommand completes the name or the argument of a command.
func (d *Dialog) completeCommand(text, name, arg string) Completion {
	if arg == "" && !strings.HasSuffix(text, " ") {
		comp := Completion{Start: len(text) - len(name)}
		for _, c := range d.commands {
			comp.Items = append(comp.Items, Item{c.Name, c.Doc, groupCommands})
		}
		comp.Items = matching(comp.Items, name)
		return comp
	}
	comp := Completion{Start: len(text) - len(arg)}
	c := d.command(name)
	if c == nil {
		return comp
	}
	d.document()
	switch c.Takes {
	case ArgLua:
		inner := d.Complete(arg, len(arg))
		comp.Start += inner.Start
		comp.Items = inner.Items
		return comp
	case ArgResource:
		comp.Items = append(d.referenceItems(), d.pathItems(arg)...)
	case ArgFact:
		comp.Items = d.factItems(arg)
	case ArgType:
		comp.Items = d.typeItems(arg)
	case ArgFile:
		if !strings.ContainsAny(arg, "/") {
			for _, name := range d.opts.ListDir("./") {
				comp.Items = append(comp.Items, Item{name, "", groupFiles})
			}
		}
		comp.Items = append(comp.Items, d.pathItems(arg)...)
		if strings.ContainsAny(arg, "/") && len(comp.Items) == 0 {
			dir, _ := path.Split(arg)
			for _, name := range d.opts.ListDir("./" + dir) {
				comp.Items = append(comp.Items, Item{dir + name, "", groupFiles})
			}
		}
	case ArgCommand:
		for _, c := range d.commands {
			comp.Items = append(comp.Items, Item{c.Name, c.Doc, groupCommands})
		}
	}
	for _, word := range c.Words {
		comp.Items = append(comp.Items, Item{word, "", groupValues})
	}
	comp.Items = matching(comp.Items, arg)
	return comp
}

// typeItems returns types, or the properties of the type before the dot.
func (d *Dialog) typeItems(arg string) (items []Item) {
	name, _, dotted := strings.Cut(arg, ".")
	if !dotted {
		for _, t := range d.types() {
			items = append(items, Item{t.Name, firstSentence(t.Schema().Doc), groupTypes})
		}
		return items
	}
	if t := d.Type(name); t != nil {
		for _, s := range t.Properties() {
			for i := range s.Fields {
				items = append(items, Item{name + "." + s.Fields[i].Name, propertyLine(&s.Fields[i]), groupProperties})
			}
		}
	}
	return items
}

// completeTopic completes what documentation is asked for with ?.
func (d *Dialog) completeTopic(text, rest string) Completion {
	d.document()
	rest = strings.TrimLeft(rest, " \t")
	comp := Completion{Start: len(text) - len(rest)}
	if name, dotted := strings.CutPrefix(rest, "."); dotted {
		comp.Start = len(text) - len(name)
		for _, c := range d.commands {
			comp.Items = append(comp.Items, Item{c.Name, c.Doc, groupCommands})
		}
		comp.Items = matching(comp.Items, name)
		return comp
	}
	comp.Items = append(d.typeItems(rest), d.nameItems(cursorIn(rest, d.Type))...)
	if strings.ContainsAny(rest, ".:") {
		c := cursorIn(rest, d.Type)
		comp.Items = d.typeItems(rest)
		if len(comp.Items) == 0 {
			comp.Start = len(text) - len(c.word)
			comp.Items, rest = d.fieldItems(c), c.word
		}
	}
	comp.Items = slices.DeleteFunc(matching(comp.Items, rest), func(i Item) bool { return i.Group == groupKeywords })
	return comp
}
