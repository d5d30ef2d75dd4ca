package luaapi

import (
	"context"
	"fmt"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// Packages above this one add globals, modules and fields for scripts in Options.Extend,
// with the methods in this file.

// Define adds a global. It is made when a script first uses it, so that unused ones cost nothing.
// Its name as a module is module; "" makes it no module.
func (in *Interp) Define(name, module string, open func(L *lua.LState) lua.LValue) {
	globals := in.vm.Env
	if in.globals.makers == nil {
		in.globals.makers = make(map[string]func(*lua.LState) lua.LValue)
		globals.Metatable.(*lua.LTable).RawSetString("__index", in.vm.NewFunction(func(L *lua.LState) int {
			key := keyText(L.Get(2))
			open := in.globals.makers[key]
			if open == nil {
				L.Push(in.modules.undefined(L, L.Get(2)))
				return 1
			}
			v := open(L)
			globals.RawSetString(key, v)
			L.Push(v)
			return 1
		}))
	}
	in.globals.makers[name] = open
	in.globals.names = append(in.globals.names, name)
	if module == "" {
		return
	}
	preload := in.modules.packageTable().RawGetString("preload").(*lua.LTable)
	preload.RawSetString(module, in.vm.NewFunction(func(L *lua.LState) int {
		v := globals.RawGetString(name)
		if v == lua.LNil {
			v = open(L)
			globals.RawSetString(name, v)
		}
		L.Push(v)
		return 1
	}))
}

// Field adds a field to the table ccm. Get is called each time that a script reads it.
func (in *Interp) Field(name string, get func(L *lua.LState) lua.LValue) {
	contents := in.Tables.Contents(global(in.vm, "ccm").(*lua.LTable))
	if in.globals.fields == nil {
		in.globals.fields = make(map[string]func(*lua.LState) lua.LValue)
		mt := in.vm.CreateTable(0, 1)
		contents.Metatable = mt
		mt.RawSetString("__index", in.vm.NewFunction(func(L *lua.LState) int {
			key := keyText(L.Get(2))
			get := in.globals.fields[key]
			if get == nil {
				in.report.throwError(L, &missingError{"ccm", key, append(stringKeys(contents), in.globals.fieldNames...)})
			}
			L.Push(get(L))
			return 1
		}))
	}
	in.globals.fields[name] = get
	in.globals.fieldNames = append(in.globals.fieldNames, name)
}

// Throw throws a mistake at the place of the script that called.
func (in *Interp) Throw(L *lua.LState, hint, format string, args ...any) {
	in.report.throw(L, hint, format, args...)
}

// IsList reports whether a read-only table is a list; an empty table itself does not show that.
func (ts *Tables) IsList(t *lua.LTable) bool {
	r, ok := ts.byProxy[t]
	return ok && r.array
}

// Library returns a read-only table of functions and values. A name that it
// does not have is a mistake.
func (ts *Tables) Library(name string, contents *lua.LTable) *lua.LTable {
	return ts.readonly(readonlyTable{name: name, contents: contents, missingField: func(key lua.LValue) (lua.LValue, error) {
		return lua.LNil, &missingError{name, keyText(key), stringKeys(contents)}
	}})
}

// Tree returns a read-only table. Get returns a field by its name, list a table of all
// fields. Contents holds further fields.
func (ts *Tables) Tree(name string, contents *lua.LTable, get func(key string) (lua.LValue, error), list func() *lua.LTable) *lua.LTable {
	return ts.readonly(readonlyTable{
		name: name, contents: contents,
		missingField: func(key lua.LValue) (lua.LValue, error) { return get(keyText(key)) },
		list:         func() (*lua.LTable, error) { return list(), nil },
	})
}

// Missing returns the error that a tree of plain data lacks a name.
func Missing(table, name string, known []string) error { return &unknownNameError{name, table, known} }

// SiteDir returns the absolute directory of the script.
func (in *Interp) SiteDir() string { return in.source.siteDir() }

// Properties returns a read-only table. The function of a field is called each time that a script
// reads the field. An unknown name is a mistake.
func (ts *Tables) Properties(name string, fields map[string]func(L *lua.LState) lua.LValue) *lua.LTable {
	L := ts.vm
	t := ts.readonly(readonlyTable{name: name, contents: L.CreateTable(0, 0), list: func() (*lua.LTable, error) {
		list := L.CreateTable(0, len(fields))
		for key, get := range fields {
			list.RawSetString(key, get(L))
		}
		return list, nil
	}})
	t.Metatable.(*lua.LTable).RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		key := keyText(L.Get(2))
		get := fields[key]
		if get == nil {
			ts.report.throwError(L, &missingError{name, key, slices.Sorted(maps.Keys(fields))})
		}
		L.Push(get(L))
		return 1
	}))
	return t
}

// LookupEnv returns an environment variable, and whether it is set.
func (in *Interp) LookupEnv(name string) (string, bool) { return in.opts.Env(name) }

// Warn warns of something at the place of the call.
func (in *Interp) Warn(L *lua.LState, msg string) { in.opts.Warn(in.source.framePos(caller(L)), msg) }

// Context returns the context of the evaluation, which has the time limit of the script.
func (in *Interp) Context() context.Context { return in.report.ctx }

// Outer returns the context of everything that the scripts do, also long after their evaluation.
func (in *Interp) Outer() context.Context { return in.opts.Context }

// Null is the value of a userdata that represents null inside of tables, where Lua has no
// nil. As the value of a property it is the same as nil.
type Null struct{}

// Print writes a line as print does.
func (in *Interp) Print(line string) {
	// If the standard error is closed there is no way to report it.
	_, _ = fmt.Fprintln(in.opts.Print, line)
}

// Replace replaces a global of Lua, such as assert in spec files.
func (in *Interp) Replace(name string, v func(L *lua.LState) lua.LValue) {
	in.vm.Env.RawSetString(name, v(in.vm))
	if !slices.Contains(in.globals.names, name) {
		in.globals.names = append(in.globals.names, name)
	}
}

// Try calls a function as pcall does. If it fails, thrown is the error as a script gets it
// from pcall.
func (in *Interp) Try(L *lua.LState, fn lua.LValue, args ...lua.LValue) (thrown lua.LValue, ok bool) {
	if _, thrown = in.limits.protect(L, nil, fn, args...); thrown == nil {
		return lua.LNil, true
	}
	return thrown, false
}

// Show writes a value as a script would.
func (in *Interp) Show(v lua.LValue) string {
	if t, ok := v.(*lua.LTable); ok {
		v = in.Tables.Contents(t)
	}
	return literal(v, 0)
}
