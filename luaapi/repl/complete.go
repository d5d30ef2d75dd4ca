package repl

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/schema"
)

// A Completion is what can stand at the cursor.
type Completion struct {
	// Start is where the text begins that an item replaces; it ends at the
	// cursor.
	Start int
	Items []Item
}

// An Item is one of the things that can stand there.
type Item struct {
	Text  string // what is inserted
	Doc   string // one line about it, or ""
	Group string // what kind of thing it is
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

// Complete returns what can stand at the cursor, which is a byte of text. It
// gathers facts if that is what is asked for, and changes nothing.
func (d *Dialog) Complete(text string, at int) Completion {
	text = text[:at]
	if name, arg, ok := splitCommand(text); ok && len(d.pending) == 0 {
		return d.completeCommand(text, name, arg)
	}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), "?"); ok && len(d.pending) == 0 {
		return d.completeTopic(text, rest)
	}
	whole := d.pending + text
	c := cursorIn(whole, d.Type)
	comp := Completion{Start: c.start - len(d.pending)}
	if comp.Start < 0 {
		return Completion{Start: at} // it began in an earlier line
	}
	d.document()
	switch {
	case c.inString:
		comp.Start, comp.Items = d.stringItems(c, comp.Start)
	case len(c.path) > 0:
		comp.Items = d.fieldItems(c)
	case !c.chained:
		comp.Items = d.nameItems(c)
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
func (d *Dialog) nameItems(c *cursor) []Item {
	var items []Item
	if c.key() {
		items = d.propertyItems(c)
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
	variables := d.session.Variables()
	for _, name := range d.session.GlobalNames() {
		switch {
		case slices.Contains(variables, name), name == lastValue:
			v, _ := d.session.Global(name)
			items = append(items, Item{name, d.valueDoc(name, v), groupVariables})
		case closed:
		case d.Type(name) != nil:
			items = append(items, Item{name, firstSentence(d.Type(name).Schema().Doc), groupTypes})
		default:
			items = append(items, Item{name, d.topicLine(name), groupGlobals})
		}
	}
	if closed {
		return items
	}
	for _, w := range slices.Sorted(mapKeys(keywords)) {
		items = append(items, Item{w, "", groupKeywords})
	}
	return items
}

// propertyItems returns the properties that the table at the cursor does not
// have yet.
func (d *Dialog) propertyItems(c *cursor) (items []Item) {
	f := c.top()
	given := c.given()
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

// valueItems returns the values that a property can have, as Lua writes them.
func valueItems(p *schema.Field) (items []Item) {
	if p.Kind == schema.Bool {
		return []Item{{"true", "", groupValues}, {"false", "", groupValues}}
	}
	for _, v := range p.Values {
		items = append(items, Item{`"` + v + `"`, "", groupValues})
	}
	return items
}

// fieldItems returns the fields of what stands before the cursor.
func (d *Dialog) fieldItems(c *cursor) (items []Item) {
	v, name := d.follow(c.path)
	if v == nil || c.chained {
		return nil
	}
	if _, isString := v.(lua.LString); isString {
		if !c.method {
			return nil
		}
		name = "string"
	}
	for _, n := range d.session.FieldNames(v) {
		if !isName(n) {
			continue
		}
		item := Item{n, "", groupFields}
		if _, isTable := v.(*lua.LTable); !isTable || !d.isCostly(v, n) {
			if field, ok := d.session.Field(v, n); ok {
				item.Doc = d.valueDoc(name+"."+n, field)
			}
		}
		if d.session.IsFacts(v) {
			item.Doc, item.Group = d.factLine(n), groupFacts
		}
		items = append(items, item)
	}
	return items
}

// isCostly reports whether to look at a field takes time that a completion does
// not have.
func (d *Dialog) isCostly(v lua.LValue, name string) bool {
	if !d.session.IsFacts(v) {
		return false
	}
	return !d.facts.Gathered(name)
}

// follow returns the value that a path of names leads to, nil if there is none,
// and how documentation calls it.
func (d *Dialog) follow(names []string) (lua.LValue, string) {
	if len(names) == 1 && (names[0][0] == '"' || names[0][0] == '\'') {
		return lua.LString(""), "string"
	}
	v, ok := d.session.Global(names[0])
	for _, name := range names[1:] {
		if !ok {
			return nil, ""
		}
		v, ok = d.session.Field(v, name)
	}
	if !ok || v == lua.LNil {
		return nil, ""
	}
	return v, strings.Join(names, ".")
}
