package luaapi

import (
	"errors"
	"fmt"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// A read-only table is an empty one that reads through to its contents and
// refuses to be written. Scripts do not notice: pairs, ipairs, next, # and the functions of table see
// the contents.
type readonly struct {
	name     string // how messages call it: facts.os
	contents *lua.LTable
	// missing is called for a name that is not there: it returns its value or an
	// error. Nil makes a missing name nil.
	missing func(key lua.LValue) (lua.LValue, error)
	// array says that it is a list, even if it is empty.
	array bool
	// list returns what pairs lists, if that is not simply the contents.
	list func() (*lua.LTable, error)
}

// readonly returns the table that r describes.
func (in *Interp) readonly(r readonly) *lua.LTable {
	proxy := in.vm.CreateTable(0, 0)
	mt := in.vm.CreateTable(0, 6)
	mt.RawSetString("__index", r.contents)
	if in.guards.write == nil {
		in.guards = in.newGuards()
	}
	mt.RawSetString("__newindex", in.guards.write)
	mt.RawSetString("__len", in.guards.length)
	mt.RawSetString("__metatable", lua.LFalse)
	proxy.Metatable = mt
	if r.missing != nil {
		r.contents.Metatable = in.guards.absent
		in.lacking[r.contents] = &r
	}
	in.readonlies[proxy] = &r
	return proxy
}

// guards are what read-only tables have in common: a table of data has thousands
// of them inside.
type guards struct {
	write, length *lua.LFunction
	absent        *lua.LTable // the metatable of contents
}

func (in *Interp) newGuards() guards {
	absent := in.vm.CreateTable(0, 1)
	absent.RawSetString("__index", in.vm.NewFunction(func(L *lua.LState) int {
		v, err := in.lacking[L.Get(1).(*lua.LTable)].missing(L.Get(2))
		if err != nil && !in.isComputed(L, err) {
			in.throwError(L, err)
		}
		L.Push(v)
		return 1
	}))
	return guards{
		write: in.vm.NewFunction(func(L *lua.LState) int {
			r := in.readonlies[L.Get(1).(*lua.LTable)]
			in.throw(L, "copy what you want to change", "%s is read-only", dotted(r.name, L.Get(2)))
			return 0
		}),
		length: in.vm.NewFunction(func(L *lua.LState) int {
			L.Push(lua.LNumber(in.readonlies[L.Get(1).(*lua.LTable)].contents.Len()))
			return 1
		}),
		absent: absent,
	}
}

// isComputed reports whether err is that facts or data have no such name, and the
// name is not written in the script: data.hosts[name] is asked to see whether it
// is there, data.hots is a slip.
func (in *Interp) isComputed(L *lua.LState, err error) bool {
	if _, ok := errors.AsType[*factError](err); !ok {
		return false
	}
	f := caller(L)
	c := in.chunkOf(f.node)
	if c == nil {
		return false
	}
	get, ok := c.tree().node(f.node).(*ast.AttrGetExpr)
	if !ok {
		return false
	}
	key, written := get.Key.(*ast.StringExpr)
	return !written || !identifier(key.Value) // data["web.example.org"]
}

// open returns the contents of a read-only table, and any other table as it is.
func (in *Interp) open(t *lua.LTable) *lua.LTable {
	if t.Metatable == lua.LNil {
		return t
	}
	if r, ok := in.readonlies[t]; ok {
		return r.contents
	}
	return t
}

// listing returns the table to walk when a script lists t.
func (in *Interp) listing(L *lua.LState, t *lua.LTable) *lua.LTable {
	r, ok := in.readonlies[t]
	if !ok {
		return t
	}
	if r.list == nil {
		return r.contents
	}
	list, err := r.list()
	if err != nil {
		in.throwError(L, err)
	}
	return list
}

// throwError throws an error of this program, with its hint if it has one.
func (in *Interp) throwError(L *lua.LState, err error) {
	hint := ""
	if h, ok := err.(interface{ Hint() string }); ok {
		hint = h.Hint()
	}
	in.throw(L, hint, "%w", err)
}

// dotted names a field of a table in a message.
func dotted(name string, key lua.LValue) string {
	if s, ok := key.(lua.LString); ok && identifier(string(s)) {
		return name + "." + string(s)
	}
	return fmt.Sprintf("%s[%s]", name, literal(key, 0))
}

// A missingError says that a table of ccm has no such field.
type missingError struct {
	table, key string
	known      []string
}

// Error says what is missing.
func (e *missingError) Error() string { return fmt.Sprintf("%s has no %q", e.table, e.key) }

// Hint returns the nearest name, or "".
func (e *missingError) Hint() string { return diag.DidYouMean(e.key, e.known) }
