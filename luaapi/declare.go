package luaapi

import (
	"errors"
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A workspace is memory that one declaration after the other uses.
type workspace struct {
	names   []lua.LValue
	entries []schema.Entry
	table   schema.Table
	foreign bool // one of the entries has a value that no property can hold
}

// construct returns what a call of the constructor of t does. The forms are
//
//	file { "/a", "/b", mode = "0644" }   names and properties in one table
//	file "/a" { mode = "0644" }          the properties in a second call
//	file("/a", { mode = "0644" })        or as a second argument
//	package "vim"                        no properties
//
// The second form is known by its place in the syntax tree: the call with the
// name is itself what is called. So the third form is declared at once, without
// waiting whether properties may follow.
func (in *Interp) construct(t *resource.Type) lua.LGFunction {
	return func(L *lua.LState) int {
		f := caller(L)
		first := L.Get(2) // the constructor itself comes before it
		names := in.work.names[:0]
		switch v := first.(type) {
		case lua.LString:
			names = append(names, v)
		case *lua.LTable:
			if L.GetTop() == 2 && !in.isCurried(f) {
				return in.declare(L, f, t, nil, v)
			}
			list := in.open(v)
			for i := 1; i <= list.Len(); i++ {
				names = append(names, list.RawGetInt(i))
			}
			if k, _ := list.Next(position(list.Len())); k != lua.LNil || len(names) == 0 {
				return in.declare(L, f, t, nil, v)
			}
		}
		in.work.names = names
		switch {
		case len(names) == 0:
			in.noteAt(L, f, fmt.Errorf("%s: want a name or a table of properties, got %s", t.Name, kindOf(first)), "")
			return in.deadHandles(L, t, []lua.LValue{lua.LString("")})
		case L.GetTop() == 2 && in.isCurried(f):
			L.Push(in.handle(&pending{t, append([]lua.LValue(nil), names...)}))
			return 1
		case L.GetTop() == 2:
			return in.declare(L, f, t, names, nil)
		}
		props, ok := L.Get(3).(*lua.LTable)
		if !ok || L.GetTop() > 3 {
			in.noteAt(L, f, fmt.Errorf("%s: want a table of properties after the name, got %s", t.Name, kindOf(L.Get(3))), "")
			return in.deadHandles(L, t, names)
		}
		return in.declare(L, f, t, names, props)
	}
}

// isCurried reports whether the result of the call that f is at is called.
func (in *Interp) isCurried(f frame) bool {
	c := in.chunkOf(f.node)
	return c != nil && c.curried(f.node)
}

// declare declares a resource for each name. If names is nil, they are the
// positions of props; props may be nil. It pushes the handles.
func (in *Interp) declare(L *lua.LState, f frame, t *resource.Type, names []lua.LValue, props *lua.LTable) int {
	w := &in.work
	w.foreign = false
	w.entries = append(w.entries[:0], schema.Entry{Key: t.Schema().Name().Name})
	if props != nil {
		props = in.open(props)
		n := props.Len()
		switch {
		case names == nil:
			names = w.names[:0]
			for i := 1; i <= n; i++ {
				names = append(names, props.RawGetInt(i))
			}
			w.names = names
		case n > 0:
			in.noteAt(L, f, fmt.Errorf("%s: want only properties behind the name, got also %s", t.Name, kindOf(props.RawGetInt(1))), "")
		}
		for k, v := props.Next(position(n)); k != lua.LNil; k, v = props.Next(k) {
			key, ok := k.(lua.LString)
			if !ok {
				key = lua.LString(keyText(k))
			}
			w.entries = append(w.entries, schema.Entry{Key: string(key), Val: in.value(v, 0)})
		}
	}
	from := resource.Origin{Pos: in.place(f.node, f.file), Calls: in.chain(L, f)}
	var def *defaults
	if c := in.chunkOf(f.node); c != nil {
		from.Dir = c.dir
		if def = c.defaults[t]; def != nil {
			w.entries = def.fill(w.entries)
		}
	}
	where := place{in: in, typ: t, node: f.node, file: f.file, defaults: def}
	if len(names) == 0 {
		L.Push(in.add(t, w.entries[1:], where, from))
		return 1
	}
	for i, name := range names {
		w.entries[0].Val = in.value(name, 0)
		where.nth = i
		L.Push(in.add(t, w.entries, where, from))
	}
	return len(names)
}

// add decodes one declaration and adds it to the catalog.
func (in *Interp) add(t *resource.Type, entries []schema.Entry, where place, from resource.Origin) lua.LValue {
	in.work.table = schema.Table{Entries: entries, Where: &where}
	r, err := t.Decode(&in.work.table, from)
	if err == nil && in.work.foreign {
		// The decoder lets properties that take anything take this too.
		path, f := foreignIn(entries)
		err = r.Errorf(path, "%s: a property cannot hold %s", path[:1], f)
	}
	if err == nil && r.Common.Provider != "" {
		err = in.opts.Registry.CheckProvider(r)
	}
	if err == nil {
		r, err = in.opts.Builder.Add(r)
	}
	if err == nil {
		return in.handle(r)
	}
	var list diag.List
	list.Add(err)
	for _, e := range list {
		if e.Pos == from.Pos {
			e.Pos = where.Locate(nil, false)
		}
	}
	in.mistakes = append(in.mistakes, list...)
	id := resource.ID{Type: t.Name}
	name := t.Schema().Name()
	for i := range entries {
		if t.Schema().Field(entries[i].Key) == name {
			id.Name = entries[i].Val.S
			break
		}
	}
	return in.handle(&dead{id})
}

// deadHandles pushes a handle for each name of a declaration that went wrong.
func (in *Interp) deadHandles(L *lua.LState, t *resource.Type, names []lua.LValue) int {
	for _, name := range names {
		L.Push(in.handle(&dead{resource.ID{Type: t.Name, Name: lua.LVAsString(name)}}))
	}
	return len(names)
}

// note records a mistake at the place of the script that called, and lets the
// script go on.
func (in *Interp) note(L *lua.LState, err error, hint string) {
	in.noteAt(L, caller(L), err, hint)
}

func (in *Interp) noteAt(L *lua.LState, f frame, err error, hint string) {
	in.mistakes.Add(&diag.Error{Pos: in.spot(f), Err: err, Hint: hint, Notes: in.chain(L, f)})
}

// Defaults are the properties that declarations of one type have in one file
// unless they say otherwise. They do not change; another call of defaults makes
// new ones.
type defaults struct{ list []defaultValue }

type defaultValue struct {
	names []string // the property and its aliases
	entry schema.Entry
	where place
}

// fill returns entries with what they leave out.
func (d *defaults) fill(entries []schema.Entry) []schema.Entry {
	given := entries
next:
	for i := range d.list {
		for k := range given {
			for _, name := range d.list[i].names {
				if given[k].Key == name {
					continue next
				}
			}
		}
		entries = append(entries, d.list[i].entry)
	}
	return entries
}

// setDefaults returns what TYPE.defaults does: from here to the end of the file
// declarations of t have these properties. Mistakes in them are found here, and
// not once more in every declaration.
func (in *Interp) setDefaults(t *resource.Type) lua.LGFunction {
	return func(L *lua.LState) int {
		f := caller(L)
		props, ok := L.Get(1).(*lua.LTable)
		if in.isConstructor(L.Get(1)) {
			in.noteAt(L, f, fmt.Errorf("%s.defaults is called with a colon", t.Name), fmt.Sprintf("write %s.defaults { ... }", t.Name))
			return 0
		}
		if !ok || L.GetTop() > 1 {
			in.noteAt(L, f, fmt.Errorf("%s.defaults: want a table of properties, got %s", t.Name, kindOf(L.Get(1))), "")
			return 0
		}
		c := in.chunkOf(f.node)
		if c == nil {
			return 0
		}
		now := new(defaults)
		if old := c.defaults[t]; old != nil {
			now.list = append(now.list, old.list...)
		}
		props = in.open(props)
		for k, v := props.Next(lua.LNil); k != lua.LNil; k, v = props.Next(k) {
			d := defaultValue{
				entry: schema.Entry{Key: keyText(k), Val: in.value(v, 0)},
				where: place{in: in, typ: t, node: f.node, file: f.file},
			}
			if err := in.checkDefault(t, &d); err != nil {
				for _, e := range err {
					e.Subject, e.Notes = t.Name+".defaults", in.chain(L, f)
				}
				in.mistakes = append(in.mistakes, err...)
				continue
			}
			now.set(d)
		}
		if c.defaults == nil {
			c.defaults = make(map[*resource.Type]*defaults)
		}
		c.defaults[t] = now
		return 0
	}
}

func (d *defaults) set(v defaultValue) {
	for i := range d.list {
		if d.list[i].names[0] == v.names[0] {
			d.list[i] = v
			return
		}
	}
	d.list = append(d.list, v)
}

var errName = errors.New("a name cannot be a default")
