package luaapi

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
)

// Tables are the read-only tables of an interpreter.
type Tables struct {
	vm         *lua.LState
	opts       *Options
	report     *mistakeCollector
	source     *sourceMap
	byProxy    map[*lua.LTable]*readonlyTable
	byContents map[*lua.LTable]*readonlyTable // by their contents, those with a missingField
	guards     guards
}

// A readonlyTable describes a read-only table, which is an empty table that reads through to
// its contents and throws when it is written. pairs, ipairs, next, # and the functions of
// table use the contents.
type readonlyTable struct {
	name     string // its name in messages: facts.os
	contents *lua.LTable
	// missingField is called for a missing name, and returns its value or an error. Nil makes a
	// missing name nil.
	missingField func(key lua.LValue) (lua.LValue, error)
	// array says that it is a list; an empty table does not show that.
	array bool
	// fill makes the fields of contents that are made on first use. Nil if there are none.
	fill func() error
	// list returns the table for pairs, if it is not contents.
	list func() (*lua.LTable, error)
	// names returns the names of the fields without making them; nil for those in the table of list.
	names func() []string
}

// readonly returns the table that r describes.
func (ts *Tables) readonly(r readonlyTable) *lua.LTable {
	proxy := ts.vm.CreateTable(0, 0)
	mt := ts.vm.CreateTable(0, 6)
	mt.RawSetString("__index", r.contents)
	if ts.guards.write == nil {
		ts.guards = ts.newGuards()
	}
	mt.RawSetString("__newindex", ts.guards.write)
	mt.RawSetString("__len", ts.guards.length)
	mt.RawSetString("__metatable", lua.LFalse)
	proxy.Metatable = mt
	if r.missingField != nil {
		r.contents.Metatable = ts.guards.absent
		ts.byContents[r.contents] = &r
	}
	ts.byProxy[proxy] = &r
	return proxy
}

// guards are the metamethods of all read-only tables. They are shared because data may
// have thousands of tables.
type guards struct {
	write, length *lua.LFunction
	absent        *lua.LTable // the metatable of contents
}

func (ts *Tables) newGuards() guards {
	absent := ts.vm.CreateTable(0, 1)
	absent.RawSetString("__index", ts.vm.NewFunction(func(L *lua.LState) int {
		v, err := ts.byContents[L.Get(1).(*lua.LTable)].missingField(L.Get(2))
		if err != nil && !ts.source.mayBeAbsent(L, err) {
			ts.report.throwError(L, err)
		}
		L.Push(v)
		return 1
	}))
	return guards{
		write: ts.vm.NewFunction(func(L *lua.LState) int {
			r := ts.byProxy[L.Get(1).(*lua.LTable)]
			ts.report.throw(L, "copy the table and change the copy", "%s is read-only", dotted(r.name, L.Get(2)))
			return 0
		}),
		length: ts.vm.NewFunction(func(L *lua.LState) int {
			L.Push(lua.LNumber(ts.byProxy[L.Get(1).(*lua.LTable)].contents.Len()))
			return 1
		}),
		absent: absent,
	}
}

// Contents returns the contents of a read-only table, and any other table as it is.
func (ts *Tables) Contents(t *lua.LTable) *lua.LTable {
	if t.Metatable == lua.LNil {
		return t
	}
	if r, ok := ts.byProxy[t]; ok {
		ts.fill(ts.vm, r)
		return r.contents
	}
	return t
}

// fill makes all fields of a table.
func (ts *Tables) fill(L *lua.LState, r *readonlyTable) {
	if r.fill == nil {
		return
	}
	if err := r.fill(); err != nil {
		ts.report.throwError(L, err)
	}
}

// Listing returns the table to walk when a script lists t.
func (ts *Tables) Listing(L *lua.LState, t *lua.LTable) *lua.LTable {
	r, ok := ts.byProxy[t]
	if !ok {
		return t
	}
	if r.list == nil {
		ts.fill(L, r)
		return r.contents
	}
	list, err := r.list()
	if err != nil {
		ts.report.throwError(L, err)
	}
	return list
}

// writable returns argument 1, a table that is not read-only.
func (ts *Tables) writable(L *lua.LState) *lua.LTable {
	t := L.CheckTable(1)
	if r, ok := ts.byProxy[t]; ok {
		ts.report.throw(L, "copy the table and change the copy", "%s is read-only", r.name)
	}
	return t
}

// dotted names a field of a table in a message.
func dotted(name string, key lua.LValue) string {
	if s, ok := key.(lua.LString); ok && luadata.IsName(string(s)) {
		return name + "." + string(s)
	}
	return fmt.Sprintf("%s[%s]", name, literal(key, 0))
}

// A missingError is the error that a table of ccm has no such field.
type missingError struct {
	table, key string
	names      []string
}

// Error names the field.
func (e *missingError) Error() string { return fmt.Sprintf("%s: unknown name %q", e.table, e.key) }

// Hint returns the nearest name, or "".
func (e *missingError) Hint() string { return diag.DidYouMean(e.key, e.names) }
