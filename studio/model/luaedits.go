package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/template"
	"github.com/luaccm/ccm/studio/luaedit"
)

// A luaEditor edits a script step by step.
type luaEditor struct {
	reader
	script *luaedit.Script
	res    []Resource
	now    *Model
	steps  []Splice
}

func (l *luaEditor) list() []Resource  { return l.res }
func (l *luaEditor) model() *Model     { return l.now }
func (l *luaEditor) splices() []Splice { return l.steps }

// step takes over the result of an edit of the script.
func (l *luaEditor) step(script *luaedit.Script, s Splice, err error) error {
	if err != nil {
		return fromLua(err)
	}
	l.script = script
	l.steps = append(l.steps, s)
	l.now = l.modelOfScript(script)
	l.res = l.now.Resources
	return nil
}

// fromLua converts an error of package luaedit to one of this package.
func fromLua(err error) error {
	return asOurs(err, map[error]error{luaedit.ErrShape: ErrShape, luaedit.ErrPath: ErrPath})
}

// resource returns the resource with a key, if a form can edit it.
func (l *luaEditor) resource(key string) (*Resource, error) {
	i, err := indexOf(l.res, key)
	if err != nil {
		return nil, err
	}
	if res := &l.res[i]; res.Form != None {
		return res, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrShape, l.res[i].Reason)
}

func (l *luaEditor) rename(e Edit) error {
	res, err := l.resource(e.Resource)
	if err != nil {
		return err
	}
	if len(e.Path) > 0 || e.Property != "" {
		return fmt.Errorf("%w: %w", ErrShape, diag.SubjectCannot("the keys of a table", "be changed here: edit the text"))
	}
	return l.renameTo(res, e.Name)
}

func (l *luaEditor) renameTo(res *Resource, name string) error {
	if res.nameProperty != "" {
		return l.step(l.script.Set(res.Call, res.nameProperty, name))
	}
	return l.step(l.script.SetName(res.Call, 0, name))
}

// callBefore returns the number of the call with a key; for "" the number of calls.
func (l *luaEditor) callBefore(key string) (int, error) {
	if key == "" {
		return len(l.script.Calls), nil
	}
	i, err := indexOf(l.res, key)
	if err != nil {
		return 0, err
	}
	return l.res[i].Call, nil
}

// copy puts a copy of a resource behind it, with new names.
func (l *luaEditor) copy(i int) error {
	res := l.res[i]
	text, err := l.script.Source(res.Call)
	if err != nil {
		return fromLua(err)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "local ") || l.script.IsAssigned(res.Call) {
		return fmt.Errorf("%w: its variable would be defined twice", ErrShape)
	}
	names := res.Names
	if names == nil {
		names = []string{res.Name}
	}
	copies, err := luaedit.Parse(l.file, text)
	if err != nil {
		return fromLua(err)
	}
	taken := l.res
	for n, name := range names {
		next := newName(taken, res.Type, name)
		taken = append(slices.Clip(taken), Resource{ID: res.Type + "#" + next})
		if res.nameProperty != "" {
			copies, _, err = copies.Set(0, res.nameProperty, next)
		} else {
			copies, _, err = copies.SetName(0, n, next)
		}
		if err != nil {
			return fromLua(err)
		}
	}
	return l.step(l.script.InsertBehind(res.Call, copies.Text))
}

// add makes a new call.
func (l *luaEditor) add(e Edit) error {
	if e.Type == "" || e.Name == "" {
		return diag.Expected("a type and a name")
	}
	if key := template.LuaKey(e.Type, false); key != e.Type {
		return diag.Not(strconv.Quote(e.Type), "a constructor")
	}
	at, err := l.callBefore(e.At)
	if err != nil {
		return err
	}
	constructor := e.Type
	if module := l.types[e.Type].Module; module != "" && l.script.Modules()[e.Type] != module {
		constructor = module
	}
	return l.step(l.script.Insert(at, declaration(constructor, e.Name, e.Props)))
}

// declaration returns a call of a constructor, on one line if it is short.
func declaration(typ, name string, props []Prop) string {
	if len(props) == 0 {
		return typ + " " + luadata.Quote(name) + "\n"
	}
	parts := []string{luadata.Quote(name)}
	for _, p := range props {
		value := luaedit.Write(p.Value, "")
		if !p.Literal && p.Text != "" {
			value = p.Text
		}
		parts = append(parts, template.LuaKey(p.Name, false)+" = "+value)
	}
	one := typ + " { " + strings.Join(parts, ", ") + " }"
	if len(one) <= 100 && !strings.Contains(one, "\n") {
		return one + "\n"
	}
	return typ + " {\n  " + strings.Join(parts, ",\n  ") + ",\n}\n"
}

// split makes a name of a call that declares several a call of its own, behind the first one.
func (l *luaEditor) split(e Edit) error {
	res, err := l.resource(e.Resource)
	if err != nil {
		return err
	}
	n := slices.Index(res.Names, e.Name)
	if e.Name == "" && len(res.Names) > 1 {
		n = 0
	}
	if n < 0 {
		return fmt.Errorf("%w: the call does not declare another one", ErrPath)
	}
	call := res.Call
	text, err := l.script.Source(call)
	if err != nil {
		return fromLua(err)
	}
	if l.script.IsAssigned(call) {
		return fmt.Errorf("%w: its variable would be defined twice", ErrShape)
	}
	alone, err := luaedit.Parse(l.file, text)
	if err != nil {
		return fromLua(err)
	}
	for i := range slices.Backward(res.Names) {
		if i != n {
			if alone, _, err = alone.CutName(0, i); err != nil {
				return fromLua(err)
			}
		}
	}
	if err := l.step(l.script.InsertBehind(call, alone.Text)); err != nil {
		return err
	}
	return l.step(l.script.CutName(call, n))
}

func (l *luaEditor) remove(i int) error { return l.step(l.script.Remove(l.res[i].Call)) }

// moveOne moves resource i before resource at.
func (l *luaEditor) moveOne(i, at int) error {
	if at == i || at == i+1 {
		return nil
	}
	to := len(l.script.Calls)
	if at < len(l.res) {
		to = l.res[at].Call
	}
	return l.step(l.script.Move(l.res[i].Call, to))
}

func (l *luaEditor) paste(e Edit) error {
	at, err := l.callBefore(e.At)
	if err != nil {
		return err
	}
	return l.step(l.script.Insert(at, e.Text))
}
