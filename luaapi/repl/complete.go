package repl

import (
	"path"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/resource"
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
	c := cursorIn(whole, d.registry.Type)
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

// matching returns the items that begin with prefix.
func matching(items []Item, prefix string) []Item {
	return slices.DeleteFunc(items, func(i Item) bool { return !strings.HasPrefix(i.Text, prefix) })
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
		case d.registry.Type(name) != nil:
			items = append(items, Item{name, firstSentence(d.registry.Type(name).Schema().Doc), groupTypes})
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

// stringItems returns what can stand in the string at the cursor, and where it
// begins.
func (d *Dialog) stringItems(c *cursor, start int) (int, []Item) {
	p := c.value()
	switch fn := c.function(); {
	case p != nil && isReference(p):
		return start, append(d.referenceItems(), d.pathItems(c.word)...)
	case p != nil && len(p.Values) > 0:
		var items []Item
		for _, v := range p.Values {
			items = append(items, Item{v, "", groupValues})
		}
		return start, items
	case p != nil && p.Name == "provider" && c.top().typ != nil:
		var items []Item
		for _, name := range d.registry.Providers(c.top().typ) {
			items = append(items, Item{name, "", groupValues})
		}
		return start, items
	case fn == "fact":
		return start, d.factItems(c.word)
	case fn == "require":
		return start, d.moduleItems(c.word)
	case fn == "state":
		return start, append(d.referenceItems(), d.pathItems(c.word)...)
	}
	if t := c.resourceName(d.registry.Type); t != nil {
		var items []Item
		for _, r := range d.builder.Resources() {
			if r.Type == t {
				items = append(items, Item{r.ID.Name, "declared at " + r.Pos.String(), groupResources})
			}
		}
		return start, append(items, d.pathItems(c.word)...)
	}
	if strings.Contains(c.word, "#") {
		return start, append(d.referenceItems(), d.pathItems(c.word)...)
	}
	return start, d.pathItems(c.word)
}

// isReference reports whether the values of a property are resources.
func isReference(p *schema.Field) bool {
	for i := range resource.CommonSchema().Fields {
		if f := &resource.CommonSchema().Fields[i]; f.Name == p.Name {
			return f.Elem != nil && f.Elem.Object == nil
		}
	}
	return false
}

// referenceItems returns the resources that were declared, and the types for
// others.
func (d *Dialog) referenceItems() (items []Item) {
	for _, r := range d.builder.Resources() {
		items = append(items, Item{r.ID.String(), "declared at " + r.Pos.String(), groupResources})
	}
	for _, t := range d.registry.Types() {
		items = append(items, Item{t.Name + "#", firstSentence(t.Schema().Doc), groupTypes})
	}
	return items
}

// pathItems returns the files in the directory that a path has got to. The path
// may be the name in a reference, as in file#/etc/.
func (d *Dialog) pathItems(word string) (items []Item) {
	head := ""
	if at := strings.IndexByte(word, '#'); at >= 0 && d.registry.Type(word[:at]) != nil {
		head, word = word[:at+1], word[at+1:]
	}
	if !strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "./") && !strings.HasPrefix(word, "../") {
		return nil
	}
	dir, _ := path.Split(word)
	for _, name := range d.opts.ListDir(dir) {
		items = append(items, Item{head + dir + name, "", groupFiles})
	}
	return items
}

// factItems returns the facts below the last dot of a path.
func (d *Dialog) factItems(word string) (items []Item) {
	dot := strings.LastIndexByte(word, '.')
	if dot < 0 {
		for _, name := range d.facts.Names() {
			items = append(items, Item{name, d.factLine(name), groupFacts})
		}
		return items
	}
	val, err := d.facts.Get(word[:dot])
	branch, ok := val.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	for _, name := range slices.Sorted(mapKeys(branch)) {
		items = append(items, Item{word[:dot+1] + name, short(branch[name]), groupFacts})
	}
	return items
}

// moduleItems returns the modules that ship with ccm and those beside the
// script.
func (d *Dialog) moduleItems(word string) (items []Item) {
	for _, t := range d.topics() {
		if t.library {
			items = append(items, Item{"std." + t.name, firstSentence(t.doc), groupModules})
		}
	}
	dir, _ := path.Split(strings.ReplaceAll(word, ".", "/"))
	for _, from := range []string{"./lib/", "./"} {
		for _, name := range d.opts.ListDir(from + dir) {
			if base, ok := strings.CutSuffix(name, ".lua"); ok && isName(base) {
				items = append(items, Item{strings.ReplaceAll(dir, "/", ".") + base, "", groupModules})
			}
		}
	}
	return items
}

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
		for _, t := range d.registry.Types() {
			items = append(items, Item{t.Name, firstSentence(t.Schema().Doc), groupTypes})
		}
		return items
	}
	if t := d.registry.Type(name); t != nil {
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
	comp.Items = append(d.typeItems(rest), d.nameItems(cursorIn(rest, d.registry.Type))...)
	if strings.ContainsAny(rest, ".:") {
		c := cursorIn(rest, d.registry.Type)
		comp.Items = d.typeItems(rest)
		if len(comp.Items) == 0 {
			comp.Start = len(text) - len(c.word)
			comp.Items, rest = d.fieldItems(c), c.word
		}
	}
	seen := make(map[string]bool)
	comp.Items = slices.DeleteFunc(matching(comp.Items, rest), func(i Item) bool {
		twice := seen[i.Text] || i.Group == groupKeywords
		seen[i.Text] = true
		return twice
	})
	return comp
}
