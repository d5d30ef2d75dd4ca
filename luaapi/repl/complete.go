package repl

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/words"
)

// A Completion has the texts that can be inserted at the cursor.
type Completion struct {
	// Start is the beginning of the text that an item replaces; that text ends at the cursor.
	Start int
	Items []Item
}

// An Item is a text that can be inserted at the cursor.
type Item struct {
	Text  string // the inserted text
	Doc   string // a description of one line, or ""
	Group string // the kind of the item
}

// The groups of items.
const (
	groupCommands   = "commands"
	groupFacts      = "facts"
	groupFields     = "fields"
	groupFiles      = "files"
	groupGlobals    = "globals"
	groupKeywords   = "keywords"
	groupModules    = "modules"
	groupProperties = "properties"
	groupResources  = "resources"
	groupTypes      = "types"
	groupValues     = "values"
	groupVariables  = "variables"
)

// A completer finds the completions at a place of a text.
type completer struct {
	env      *environment
	manual   *manual
	commands []Command
}

// complete returns the completions at the cursor, an offset in text. Pending are the earlier lines
// of an unfinished text. It gathers facts if these are to be completed, and changes nothing.
func (cm *completer) complete(pending, text string, at int) Completion {
	text = text[:at]
	if name, arg, ok := splitCommand(text); ok && len(pending) == 0 {
		return cm.completeCommand(text, name, arg)
	}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), "?"); ok && len(pending) == 0 {
		return cm.completeTopic(text, rest)
	}
	whole := pending + text
	c := cursorIn(whole, cm.env.constructed)
	comp := Completion{Start: c.start - len(pending)}
	if comp.Start < 0 {
		return Completion{Start: at} // the string began in an earlier line
	}
	cm.env.document()
	switch {
	case c.inString:
		comp.Start, comp.Items = cm.stringItems(c, comp.Start)
	case len(c.path) > 0:
		comp.Items = cm.fieldItems(c)
	case !c.chained:
		comp.Items = cm.nameItems(c)
	}
	comp.Items = matching(comp.Items, text[comp.Start:])
	return comp
}

// matching returns the items that begin with prefix, each once.
func matching(items []Item, prefix string) []Item {
	seen := make(map[string]bool)
	return slices.DeleteFunc(items, func(i Item) bool {
		twice := seen[i.Text]
		seen[i.Text] = true
		return twice || !strings.HasPrefix(i.Text, prefix)
	})
}

// nameItems returns the names that can stand at the cursor: properties and the
// values of properties first.
func (cm *completer) nameItems(c *cursor) []Item {
	var items []Item
	if c.key() {
		items = cm.propertyItems(c)
		if !c.top().names || c.at(1) != "{" {
			return items // the names of resources come first
		}
	}
	closed := false
	if p := c.value(); p != nil {
		values := valueItems(p)
		closed = len(values) > 0
		items = append(items, values...)
	}
	if c.at(1) == "local" || c.at(1) == "function" || c.at(1) == "goto" {
		return items
	}
	variables := cm.env.console.Variables()
	for _, name := range cm.env.console.GlobalNames() {
		switch {
		case slices.Contains(variables, name), name == lastValue:
			v, _ := cm.env.console.Global(name)
			items = append(items, Item{name, cm.manual.valueDoc(name, v), groupVariables})
		case closed:
		case cm.env.typeNamed(name) != nil:
			items = append(items, Item{name, words.FirstSentence(cm.env.typeNamed(name).Schema().Doc), groupTypes})
		default:
			items = append(items, Item{name, cm.manual.topicLine(name), groupGlobals})
		}
	}
	if closed {
		return items
	}
	for _, w := range syntax.Keywords {
		items = append(items, Item{w, "", groupKeywords})
	}
	return items
}

// propertyItems returns the properties that the table at the cursor does not
// have yet.
func (cm *completer) propertyItems(c *cursor) (items []Item) {
	f := c.top()
	given := c.writtenProperties()
	schemas := []*schema.Schema{f.object}
	if f.object == nil {
		schemas = f.typ.Properties()
	}
	for _, s := range schemas {
		for i := range s.Fields {
			p := &s.Fields[i]
			if p.IsName && f.names || slices.ContainsFunc(append([]string{p.Name}, p.Aliases...), func(n string) bool { return slices.Contains(given, n) }) {
				continue
			}
			items = append(items, Item{p.Name + " = ", propertyLine(p), groupProperties})
		}
	}
	return items
}

// valueItems returns the possible values of a property as literals of Lua.
func valueItems(p *schema.Field) (items []Item) {
	if p.Kind == schema.Bool {
		return []Item{{"true", "", groupValues}, {"false", "", groupValues}}
	}
	for _, v := range p.Values {
		items = append(items, Item{`"` + v + `"`, "", groupValues})
	}
	return items
}

// fieldItems returns the fields of the value before the cursor.
func (cm *completer) fieldItems(c *cursor) (items []Item) {
	v, name := cm.env.follow(c.path)
	if v == nil || c.chained {
		return nil
	}
	if _, isString := v.(lua.LString); isString {
		if !c.method {
			return nil
		}
		name = "string"
	}
	for _, n := range cm.env.console.FieldNames(v) {
		if !luadata.IsName(n) {
			continue
		}
		item := Item{n, "", groupFields}
		if cm.env.console.IsStd(v) { // without loading the module
			if t := cm.env.constructed("std." + n); t != nil {
				item.Doc, item.Group = words.FirstSentence(t.Schema().Doc), groupTypes
				items = append(items, item)
			} else if item.Doc, item.Group = cm.manual.topicLine(n), groupModules; item.Doc != "" {
				items = append(items, item) // others are parts of these modules
			}
			continue
		}
		if _, isTable := v.(*lua.LTable); !isTable || !cm.isCostly(v, n) {
			if field, ok := cm.env.console.Field(v, n); ok {
				item.Doc = cm.manual.valueDoc(name+"."+n, field)
			}
		}
		if cm.env.console.IsFacts(v) {
			item.Doc, item.Group = factLine(cm.env.facts, n), groupFacts
		}
		items = append(items, item)
	}
	return items
}

// isCostly reports whether to look at a field takes time that a completion does
// not have.
func (cm *completer) isCostly(v lua.LValue, name string) bool {
	if !cm.env.console.IsFacts(v) {
		return false
	}
	return !cm.env.facts.Gathered(name)
}
