package model

import (
	"errors"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/template"
	"github.com/luaccm/ccm/studio/yamledit"
)

// readYAML reads a manifest, or a file of data, which declares nothing.
func (r reader) readYAML(text string) (*Model, error) {
	doc, err := yamledit.Parse(text)
	if err != nil {
		var m *yamledit.Mistake
		errors.As(err, &m)
		return nil, &Refusal{Err: err, Line: m.Line}
	}
	l := yamlLister{reader: r, doc: doc}
	return r.modelOf(doc, l.list()), nil
}

func (r reader) modelOf(doc *yamledit.Doc, list []Resource) *Model {
	return &Model{File: r.file, Language: YAML, Text: doc.Text, Resources: list, reader: r, doc: doc}
}

// resourcesPath is the path of the resources of a manifest.
var resourcesPath = yamledit.Path{"ccm", "resources"}

// below returns a path with further steps.
func below(path yamledit.Path, more ...any) yamledit.Path { return append(slices.Clip(path), more...) }

// A yamlLister lists the resources of a manifest.
type yamlLister struct {
	reader
	doc *yamledit.Doc
	out []Resource
}

func (l *yamlLister) list() []Resource {
	groups, err := l.doc.At(resourcesPath)
	if err != nil {
		return nil
	}
	for g, group := range groups.Children() {
		if entries := group.Children(); group.Kind() == yamledit.Map && len(entries) == 1 {
			l.group(g, entries[0])
		}
	}
	setKeys(l.out)
	return l.out
}

// group lists the resources of one group, whose key is the type.
func (l *yamlLister) group(g int, group yamledit.Node) {
	typ := group.Key()
	path := below(resourcesPath, g, typ)
	switch group.Kind() {
	case yamledit.Map:
		l.single(Resource{Type: typ, Path: path, Group: g}, group)
	case yamledit.List:
		defaults := l.defaults(group)
		n := 0
		for i, item := range group.Children() {
			entries := item.Children()
			if item.Kind() != yamledit.Map || len(entries) != 1 || entries[0].Key() == "defaults" {
				continue
			}
			named := entries[0]
			res := Resource{Type: typ, Name: named.Key(), Path: below(path, i, named.Key()), Group: g, Item: n}
			res.Line, res.Column = named.Place(true)
			l.add(res, named, defaults)
			n++
		}
	}
}

// defaults returns the defaults of a group.
func (l *yamlLister) defaults(group yamledit.Node) []Prop {
	for _, item := range group.Children() {
		if d, ok := item.Child("defaults"); ok {
			return props(d, nil)
		}
	}
	return nil
}

// single lists a resource whose name is among its properties.
func (l *yamlLister) single(res Resource, body yamledit.Node) {
	names := l.types[res.Type].NameProperties
	if len(names) == 0 {
		names = []string{"name"}
	}
	for _, p := range props(body, nil) {
		if slices.Contains(names, p.Name) {
			if text, ok := p.Value.(string); ok {
				res.Name, res.nameProperty = text, p.Name
			} else {
				res.Name, res.nameProperty = p.Text, p.Name
			}
			break
		}
	}
	res.Line, res.Column = body.Place(true)
	l.add(res, body, nil)
}

// add lists a resource with its properties.
func (l *yamlLister) add(res Resource, body yamledit.Node, defaults []Prop) {
	res.ID = res.Type + "#" + res.Name
	res.Call = -1
	res.From, res.To = body.Range(true)
	res.Shared = l.doc.Aliases(yamledit.Path(res.Path))
	switch body.Kind() {
	case yamledit.Alias:
		res.Form, res.Reason = None, "its properties are defined elsewhere ("+body.Text()+")"
	case yamledit.Scalar, yamledit.List:
		res.Form, res.Reason = None, diag.Expected("properties with their values").Found("%s", body.Text()).Error()
	}
	if template.HasExpression(res.Name) {
		res.Reason = nameIsExpression
	}
	res.Props = props(body.Target(), func(name string) bool { return name == res.nameProperty })
	if _, merges := body.Target().Child("<<"); merges {
		res.Reason = "some of its properties come from elsewhere (<<)"
	}
	for _, d := range defaults {
		if res.Prop(d.Name) == nil {
			res.Defaults = append(res.Defaults, d)
		}
	}
	res.setForm()
	l.out = append(l.out, res)
}

// props returns the properties in a map, except skipped ones.
func props(body yamledit.Node, skip func(name string) bool) []Prop {
	var out []Prop
	if body.Kind() != yamledit.Map {
		return nil
	}
	for _, c := range body.Children() {
		if c.IsMerge() || skip != nil && skip(c.Key()) {
			continue
		}
		p := Prop{Name: c.Key(), Value: c.Value(), Text: c.Text(), Literal: true}
		p.From, p.To = c.Range(false)
		p.Line, _ = c.Place(true)
		switch {
		case c.Kind() == yamledit.Alias:
			p.Literal, p.Reason = false, "the value is defined elsewhere ("+c.Text()+")"
		case hasExpression(p.Value):
			p.Literal, p.Reason = false, "an expression"
		}
		out = append(out, p)
	}
	return out
}

// hasExpression reports whether a value contains a text with ${ } or {{ }}.
func hasExpression(v any) bool {
	switch v := v.(type) {
	case string:
		return template.HasExpression(v)
	case []any:
		return slices.ContainsFunc(v, hasExpression)
	case map[string]any:
		for _, e := range v {
			if hasExpression(e) {
				return true
			}
		}
	}
	return false
}

// listOf returns the list of a resource's group: the list's path, and the resource's index in it.
// ok is false for a resource whose name is among its properties, which is in no list.
func listOf(res *Resource) (path yamledit.Path, item int, ok bool) {
	if len(res.Path) != 6 {
		return nil, 0, false
	}
	return yamledit.Path(res.Path[:4]), res.Path[4].(int), true
}

// defaultsOf returns the indices of the defaults in the list of a group, and their source text.
func defaultsOf(doc *yamledit.Doc, list yamledit.Path) (indices []int, text string) {
	n, err := doc.At(list)
	if err != nil {
		return nil, ""
	}
	for i, item := range n.Children() {
		if _, ok := item.Child("defaults"); ok {
			indices = append(indices, i)
			text += strings.TrimSpace(item.Text()) + "\n"
		}
	}
	return indices, text
}
