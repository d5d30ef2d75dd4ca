package model

import (
	"errors"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/studio/luaedit"
)

// readLua reads a script. Its declarations are the calls outside of functions and loops; calls
// inside are listed without a form.
func (r reader) readLua(text string) (*Model, error) {
	script, err := luaedit.Parse(r.file, text)
	if err != nil {
		refusal := &Refusal{Err: err}
		if d, ok := errors.AsType[*diag.Error](err); ok {
			refusal.Line = d.Pos.Line
		}
		return nil, refusal
	}
	return r.modelOfScript(script), nil
}

func (r reader) modelOfScript(script *luaedit.Script) *Model {
	m := &Model{File: r.file, Language: Lua, Text: script.Text, reader: r, script: script}
	l := luaLister{reader: r, script: script, defaults: make(map[string][]Prop)}
	m.Resources = l.list()
	return m
}

// A luaLister lists the resources of a script.
type luaLister struct {
	reader
	script   *luaedit.Script
	modules  map[string]string // local names that stand for modules, and the modules
	defaults map[string][]Prop // by type, those that apply at the lister's place
	out      []Resource
}

func (l *luaLister) list() []Resource {
	l.modules = l.script.Modules()
	for n := range l.script.Calls {
		l.call(n, &l.script.Calls[n])
	}
	setKeys(l.out)
	return l.out
}

// typeOf returns the type of a call's resource, "" if the call is no declaration.
func (l *luaLister) typeOf(c *luaedit.Call) string {
	name := c.Func
	if c.Module != "" && c.Module != "std" && l.modules[c.Module] == "" {
		return ""
	}
	if _, known := l.types[name]; known {
		return name
	}
	return ""
}

func (l *luaLister) call(n int, c *luaedit.Call) {
	if _, known := l.types[c.Module]; c.Func == "defaults" && (known || c.Module == "ccm") && !c.Block && !c.Repeats {
		l.defaults[c.Module] = l.props(c, nil)
		return
	}
	typ := l.typeOf(c)
	if typ == "" {
		return
	}
	res := Resource{Type: typ, Call: n, Group: -1, Item: n, From: c.Span.From, To: c.Span.To}
	res.Line, res.Column = l.script.Place(c.Span.From)
	l.name(&res, c)
	res.Props = l.props(c, func(name string) bool { return name == res.nameProperty })
	for _, d := range slices.Concat(l.defaults[typ], l.defaults["ccm"]) {
		if res.Prop(d.Name) == nil && !slices.ContainsFunc(res.Defaults, func(p Prop) bool { return p.Name == d.Name }) {
			res.Defaults = append(res.Defaults, d)
		}
	}
	switch {
	case c.Repeats:
		res.Form, res.Reason = None, "inside a loop or a function"
	case !c.Known():
		res.Form, res.Reason = None, "its position in the text is unknown"
	case c.Block:
		res.Reason = "inside a condition"
	case res.nameProperty != "" && !slices.ContainsFunc(c.Fields, func(f luaedit.Field) bool { return f.Name == res.nameProperty && f.Literal }),
		len(c.Names) == 1 && !c.Names[0].Literal:
		res.Reason = nameIsExpression
	case slices.ContainsFunc(c.Names, func(n luaedit.Name) bool { return !n.Literal }):
		res.Reason = namesHaveExpression
	case len(res.Names) > 1:
		res.Reason = "the call declares several resources"
	}
	res.setForm()
	l.out = append(l.out, res)
}

// name sets the names of a resource.
func (l *luaLister) name(res *Resource, c *luaedit.Call) {
	for _, n := range c.Names {
		res.Names = append(res.Names, n.Value)
	}
	if len(res.Names) == 0 {
		names := l.types[res.Type].NameProperties
		for _, f := range c.Fields {
			if slices.Contains(names, f.Name) {
				res.nameProperty = f.Name
				if text, ok := f.Value.(string); ok {
					res.Names = []string{text}
				} else {
					res.Names = []string{l.script.Text[f.Span.From:f.Span.To]}
				}
			}
		}
	}
	if len(res.Names) > 0 {
		res.Name = res.Names[0]
	}
	res.Shared = max(len(res.Names)-1, 0)
	if len(res.Names) < 2 {
		res.Names = nil
	}
	res.ID = res.Type + "#" + res.Name
}

// props returns the fields of a call, but for those that are skipped.
func (l *luaLister) props(c *luaedit.Call, skip func(name string) bool) []Prop {
	var out []Prop
	for _, f := range c.Fields {
		if skip != nil && skip(f.Name) {
			continue
		}
		p := Prop{Name: f.Name, Value: f.Value, Literal: f.Literal, Text: l.script.Text[f.Span.From:f.Span.To], From: f.Span.From, To: f.Span.To}
		p.Line, _ = l.script.Place(p.From)
		switch {
		case f.Name == "":
			p.Name, p.Literal, p.Reason = "[...]", false, "the key is an expression"
		case !f.Literal:
			p.Reason = "an expression"
		}
		out = append(out, p)
	}
	return out
}

// luaSource returns the lines of calls.
func (m *Model) luaSource(keys []string) (string, error) {
	var out strings.Builder
	for _, key := range keys {
		i, err := indexOf(m.Resources, key)
		if err != nil {
			return "", &Refusal{Err: err}
		}
		text, err := m.script.Source(m.Resources[i].Call)
		if err != nil {
			return "", &Refusal{Err: fromLua(err), Line: m.Resources[i].Line}
		}
		out.WriteString(text)
	}
	return out.String(), nil
}
