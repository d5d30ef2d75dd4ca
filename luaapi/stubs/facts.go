package stubs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/schema"
)

// A factNode is one fact: a value of a type, or a table of further facts.
type factNode struct {
	typ      string
	doc      string
	optional bool
	fields   map[string]*factNode
}

// list and anyName are the elements of a path that stand for all items of a list
// and for all names of a table.
const (
	list    = "N"
	anyName = "NAME"
)

var factPath = lazyregexp.New("`([^`]+)`")

// luaTypes are the types of the page, as scripts see them.
var luaTypes = map[string]string{
	"text": "string", "number": "integer", "float": "number", "boolean": "boolean",
	"list of strings": "string[]", "list": "table[]", "table": "table",
}

// parseFacts reads the tables of docs/facts.md: | paths | type | meaning | ...
func parseFacts(page string) *factNode {
	root := &factNode{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 5 {
			continue
		}
		kind, maybe := strings.CutSuffix(strings.TrimSpace(cells[2]), ", *maybe*")
		typ, ok := luaTypes[kind]
		if !ok {
			continue
		}
		doc := strings.ReplaceAll(strings.TrimSpace(cells[3]), "`", "")
		for _, m := range factPath().FindAllStringSubmatch(cells[1], -1) {
			n := root.at(strings.Split(m[1], "."))
			n.typ, n.optional, n.doc = typ, maybe, doc
		}
	}
	return root
}

// at returns the fact at a path; it adds a missing fact.
func (n *factNode) at(path []string) *factNode {
	for _, name := range path {
		if n.fields == nil {
			n.fields = make(map[string]*factNode)
		}
		if n.fields[name] == nil {
			n.fields[name] = &factNode{}
		}
		n = n.fields[name]
	}
	return n
}

// FactFields returns the names of the fields of the fact at a path, from docs/facts.md. It is false
// if that page does not list them all: for an unknown fact, and for tables whose names differ from
// machine to machine. Strings, numbers and booleans do not have fields.
func (l *Language) FactFields(path []string) ([]string, bool) {
	n := l.factTree()
	for _, name := range path {
		if n = n.fields[name]; n == nil {
			return nil, false
		}
	}
	if n.fields == nil {
		return nil, slices.Contains([]string{"string", "number", "integer", "boolean"}, n.typ)
	}
	if n.fields[list] != nil || n.fields[anyName] != nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(n.fields)), true
}

// factTree returns the facts of docs/facts.md. It reads the page once.
func (l *Language) factTree() *factNode {
	if l.tree == nil {
		l.tree = parseFacts(l.FactsPage)
	}
	return l.tree
}

// merge adds facts that are known by their values.
func (n *factNode) merge(name string, v any) {
	child := n.fields[name]
	if child == nil && n.fields[anyName] != nil {
		return // the type is known already
	}
	if child == nil {
		child = n.at([]string{name})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			child.merge(k, v[k])
		}
		if len(v) == 0 && child.typ == "" && child.fields == nil {
			child.typ = "table"
		}
	default:
		if child.typ == "" && child.fields == nil {
			child.typ = typeOf(v)
		}
	}
}

func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	case []any:
		if len(v) > 0 && slices.IndexFunc(v, func(x any) bool { return typeOf(x) != typeOf(v[0]) }) < 0 {
			return typeOf(v[0]) + "[]"
		}
		return "any[]"
	}
	return "any"
}

// facts writes the classes of the facts.
func (l *Language) facts(w io.Writer) {
	root := parseFacts(l.FactsPage)
	for _, name := range slices.Sorted(maps.Keys(l.Facts)) {
		root.merge(name, l.Facts[name])
	}
	root.write(w, "ccm.Facts", "Describes this machine. A branch is gathered when it is first read.")
	fmt.Fprint(w, "---@type ccm.Facts\nfacts = nil\n\n")
}

// write writes the class of a table of facts, after the classes of its inner tables.
func (n *factNode) write(w io.Writer, class, doc string) {
	names := slices.Sorted(maps.Keys(n.fields))
	for _, name := range names {
		if child := n.fields[name]; child.table() != nil {
			child.table().write(w, class+"."+name, "")
		}
	}
	schema.WriteLuaDoc(w, doc)
	fmt.Fprintf(w, "---@class (exact) %s\n", class)
	for _, name := range names {
		child := n.fields[name]
		field := name
		switch {
		case name == anyName:
			field = "[string]"
		case !schema.IsIdentifier(strings.ToLower(name)):
			field = fmt.Sprintf("[%q]", name)
		default:
			field += mark(child.optional)
		}
		fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("---@field %s %s %s", field, child.luaType(class+"."+name), child.doc)))
	}
	fmt.Fprintln(w)
}

// table returns n if it is a table, or the table of its items; nil if there is none.
func (n *factNode) table() *factNode {
	if item := n.fields[list]; item != nil {
		return item
	}
	if n.fields == nil {
		return nil
	}
	return n
}

func (n *factNode) luaType(class string) string {
	switch {
	case n.fields[list] != nil:
		return class + "[]"
	case n.fields != nil:
		return class
	}
	return n.typ
}
