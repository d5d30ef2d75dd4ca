package repl

import (
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/words"
)

// completeCommand completes the name or the argument of a command.
func (cm *completer) completeCommand(text, name, arg string) Completion {
	if arg == "" && !strings.HasSuffix(text, " ") {
		comp := Completion{Start: len(text) - len(name)}
		for _, c := range cm.commands {
			comp.Items = append(comp.Items, Item{c.Name, c.Doc, groupCommands})
		}
		comp.Items = matching(comp.Items, name)
		return comp
	}
	comp := Completion{Start: len(text) - len(arg)}
	c := findCommand(cm.commands, name)
	if c == nil {
		return comp
	}
	cm.env.document()
	switch c.Takes {
	case ArgLua:
		inner := cm.complete("", arg, len(arg))
		comp.Start += inner.Start
		comp.Items = inner.Items
		return comp
	case ArgResource:
		comp.Items = append(cm.referenceItems(), cm.pathItems(arg)...)
	case ArgFact:
		comp.Items = cm.factItems(arg)
	case ArgType:
		comp.Items = cm.typeItems(arg)
	case ArgFile:
		if !strings.ContainsAny(arg, "/") {
			for _, name := range cm.env.opts.ListDir("./") {
				comp.Items = append(comp.Items, Item{name, "", groupFiles})
			}
		}
		comp.Items = append(comp.Items, cm.pathItems(arg)...)
		if strings.ContainsAny(arg, "/") && len(comp.Items) == 0 {
			dir, _ := path.Split(arg)
			for _, name := range cm.env.opts.ListDir("./" + dir) {
				comp.Items = append(comp.Items, Item{dir + name, "", groupFiles})
			}
		}
	case ArgCommand:
		for _, c := range cm.commands {
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
func (cm *completer) typeItems(arg string) (items []Item) {
	prefix := ""
	if rest, ok := strings.CutPrefix(arg, "std."); ok {
		prefix, arg = "std.", rest
	}
	name, _, dotted := strings.Cut(arg, ".")
	if !dotted {
		for _, t := range cm.env.types() {
			items = append(items, Item{prefix + t.Name, words.FirstSentence(t.Schema().Doc), groupTypes})
		}
		return items
	}
	if t := cm.env.constructed(prefix + name); t != nil {
		for _, s := range t.Properties() {
			for i := range s.Fields {
				items = append(items, Item{prefix + name + "." + s.Fields[i].Name, propertyLine(&s.Fields[i]), groupProperties})
			}
		}
	}
	return items
}

// completeTopic completes a topic behind ?.
func (cm *completer) completeTopic(text, rest string) Completion {
	cm.env.document()
	rest = strings.TrimLeft(rest, " \t")
	comp := Completion{Start: len(text) - len(rest)}
	if name, dotted := strings.CutPrefix(rest, "."); dotted {
		comp.Start = len(text) - len(name)
		for _, c := range cm.commands {
			comp.Items = append(comp.Items, Item{c.Name, c.Doc, groupCommands})
		}
		comp.Items = matching(comp.Items, name)
		return comp
	}
	comp.Items = append(cm.typeItems(rest), cm.nameItems(cursorIn(rest, cm.env.constructed))...)
	if strings.ContainsAny(rest, ".:") {
		c := cursorIn(rest, cm.env.constructed)
		comp.Items = cm.typeItems(rest)
		if len(comp.Items) == 0 {
			comp.Start = len(text) - len(c.word)
			comp.Items, rest = cm.fieldItems(c), c.word
		}
	}
	comp.Items = slices.DeleteFunc(matching(comp.Items, rest), func(i Item) bool { return i.Group == groupKeywords })
	return comp
}
