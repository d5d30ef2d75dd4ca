package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

func (l *luaEditor) model() *Model     { return l.now }
func (l *luaEditor) splices() []Splice { return l.steps }

// step takes the answer of an edit of the script.
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

// fromLua returns an error of package luaedit as one of this package.
func fromLua(err error) error {
	return asOurs(err, map[error]error{luaedit.ErrShape: ErrShape, luaedit.ErrPath: ErrPath})
}

func (l *luaEditor) apply(e Edit) error {
	switch e.Op {
	case Set, Unset, Insert, Order:
		return l.value(e)
	case Rename:
		return l.rename(e)
	case Add:
		return l.add(e)
	case Remove:
		return l.each(e.Resources, func(i int) error { return l.step(l.script.Remove(l.res[i].Call)) })
	case Copy:
		return l.each(e.Resources, l.copy)
	case Move:
		return l.move(e)
	case Paste:
		at, err := l.before(e.At)
		if err != nil {
			return err
		}
		return l.step(l.script.Insert(at, e.Text))
	case Split:
		return l.split(e)
	}
	return fmt.Errorf("there is no edit %q", e.Op)
}

// resource returns the resource with a key that a form can edit.
func (l *luaEditor) resource(key string) (*Resource, error) {
	i, err := indexOf(l.res, key)
	if err != nil {
		return nil, err
	}
	if res := &l.res[i]; res.Form != None {
		return res, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrShape, l.res[i].Why)
}

// value makes an edit of a property, or of what is in it.
func (l *luaEditor) value(e Edit) error {
	res, err := l.resource(e.Resource)
	if err != nil {
		return err
	}
	property, inner := e.Property, e.Path
	if property == "" && len(inner) > 0 {
		property, _ = inner[0].(string)
		inner = inner[1:]
	}
	if property == "" {
		return fmt.Errorf("%w: want a property", ErrPath)
	}
	p := res.Prop(property)
	if len(inner) == 0 && e.Op == Set {
		return l.set(res, property, e)
	}
	if p == nil {
		return l.notThere(res, property)
	}
	if len(inner) == 0 && e.Op == Unset {
		return l.step(l.script.Unset(res.Call, property))
	}
	if !p.Literal {
		return fmt.Errorf("%w: %s is an expression", ErrShape, property)
	}
	value, err := changed(p.Value, inner, e)
	if err != nil {
		return err
	}
	return l.step(l.script.Set(res.Call, property, value))
}

func (l *luaEditor) set(res *Resource, property string, e Edit) error {
	if e.Expression != "" {
		return l.step(l.script.Set(res.Call, property, luaedit.Expr(e.Expression)))
	}
	return l.step(l.script.Set(res.Call, property, e.Value))
}

// notThere says why a property cannot be taken away or changed in part.
func (l *luaEditor) notThere(res *Resource, property string) error {
	if slices.ContainsFunc(res.Defaults, func(p Prop) bool { return p.Name == property }) {
		return &Refusal{Err: fmt.Errorf("%w: %s comes from the defaults above", ErrPath, property), Line: res.Line,
			Hint: "set it to another value here, or change the defaults"}
	}
	return fmt.Errorf("%w: %s", ErrPath, property)
}

// changed returns a value with an edit of what is in it.
func changed(v any, path []any, e Edit) (any, error) {
	if len(path) == 0 {
		switch e.Op {
		case Insert, Order:
			return changedList(v, e)
		}
		return e.Value, nil
	}
	last := len(path) == 1 && e.Op == Unset
	switch v := v.(type) {
	case []any:
		i, isInt := path[0].(int)
		if !isInt || i < 0 || i >= len(v) {
			return nil, ErrPath
		}
		v = slices.Clone(v)
		if last {
			return slices.Delete(v, i, i+1), nil
		}
		inner, err := changed(v[i], path[1:], e)
		v[i] = inner
		return v, err
	case map[string]any:
		key, isText := path[0].(string)
		if !isText {
			return nil, ErrPath
		}
		out := make(map[string]any, len(v)+1)
		for k, e := range v {
			out[k] = e
		}
		if last {
			delete(out, key)
			return out, nil
		}
		inner, err := changed(out[key], path[1:], e)
		out[key] = inner
		return out, err
	}
	return nil, ErrPath
}

// changedList returns a list with an item put in, or moved.
func changedList(v any, e Edit) (any, error) {
	list, isList := v.([]any)
	if m, isMap := v.(map[string]any); v == nil || isMap && len(m) == 0 {
		list, isList = nil, true
	}
	if !isList || e.Index < 0 || e.Index > len(list) || e.Op == Order && (max(e.Index, e.To) >= len(list) || e.To < 0) {
		return nil, ErrPath
	}
	if e.Op == Insert {
		return slices.Insert(slices.Clone(list), e.Index, e.Value), nil
	}
	item := list[e.Index]
	return slices.Insert(slices.Delete(slices.Clone(list), e.Index, e.Index+1), e.To, item), nil
}

func (l *luaEditor) rename(e Edit) error {
	res, err := l.resource(e.Resource)
	if err != nil {
		return err
	}
	if len(e.Path) > 0 || e.Property != "" {
		return fmt.Errorf("%w: keys of a table are changed in the text", ErrShape)
	}
	return l.renameTo(res, e.Name)
}

func (l *luaEditor) renameTo(res *Resource, name string) error {
	if res.nameProperty != "" {
		return l.step(l.script.Set(res.Call, res.nameProperty, name))
	}
	return l.step(l.script.SetName(res.Call, 0, name))
}

// each makes an edit of several resources by their keys, the last first.
func (l *luaEditor) each(keys []string, do func(i int) error) error {
	var indices []int
	for _, key := range keys {
		i, err := indexOf(l.res, key)
		if err != nil {
			return err
		}
		indices = append(indices, i)
	}
	slices.Sort(indices)
	for _, i := range slices.Backward(slices.Compact(indices)) {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// before returns the call before which something comes: that of a resource, or the end.
func (l *luaEditor) before(key string) (int, error) {
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
		return fmt.Errorf("%w: the variable it is given to would be there twice", ErrShape)
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
		return errors.New("want a type and a name")
	}
	if key := template.LuaKey(e.Type, false); key != e.Type {
		return fmt.Errorf("%q is no name of a constructor", e.Type)
	}
	at, err := l.before(e.At)
	if err != nil {
		return err
	}
	return l.step(l.script.Insert(at, declaration(e.Type, e.Name, e.Props)))
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

// move moves calls before another one, in the order of the text.
func (l *luaEditor) move(e Edit) error {
	at := len(l.res)
	if e.At != "" {
		i, err := indexOf(l.res, e.At)
		if err != nil {
			return err
		}
		at = i
	}
	var moved []int
	for _, key := range e.Resources {
		i, err := indexOf(l.res, key)
		if err != nil {
			return err
		}
		moved = append(moved, i)
	}
	slices.Sort(moved)
	moveOne := func(i, at int) error {
		if at == i || at == i+1 {
			return nil
		}
		to := len(l.script.Calls)
		if at < len(l.res) {
			to = l.res[at].Call
		}
		return l.step(l.script.Move(l.res[i].Call, to))
	}
	earlier := slices.DeleteFunc(slices.Clone(moved), func(i int) bool { return i >= at })
	for n, i := range slices.Backward(earlier) {
		if err := moveOne(i, at-(len(earlier)-1-n)); err != nil {
			return err
		}
	}
	for _, i := range moved[len(earlier):] {
		if err := moveOne(i, at); err != nil {
			return err
		}
		at++
	}
	return nil
}

// split takes a name out of a call that declares several: it becomes a call of its own behind it.
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
		return fmt.Errorf("%w: the call declares no other", ErrPath)
	}
	call := res.Call
	text, err := l.script.Source(call)
	if err != nil {
		return fromLua(err)
	}
	if l.script.IsAssigned(call) {
		return fmt.Errorf("%w: the variable it is given to would be there twice", ErrShape)
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
