package luaapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// factsTable returns the table facts. A branch of it is gathered when the
// script first asks for it.
func (in *Interp) factsTable() *lua.LTable {
	contents := in.vm.CreateTable(0, 16)
	names := in.opts.Facts.Names()
	branch := func(name string) (lua.LValue, error) {
		val, err := in.opts.Facts.Branch(name)
		if err != nil {
			return lua.LNil, err
		}
		v := in.luaValue("facts."+name, val)
		contents.RawSetString(name, v)
		return v, nil
	}
	return in.readonly(readonly{
		name:     "facts",
		contents: contents,
		missing: func(key lua.LValue) (lua.LValue, error) {
			name, ok := key.(lua.LString)
			if !ok {
				return lua.LNil, &factError{keyText(key), "facts", names}
			}
			v, err := branch(string(name))
			if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
				return lua.LNil, &factError{nf.Part, "facts", names}
			}
			return v, err
		},
		list: func() (*lua.LTable, error) {
			list := in.vm.CreateTable(0, len(names))
			for _, name := range names {
				v := contents.RawGetString(name)
				if v == lua.LNil {
					var err error
					// What cannot be gathered is left out; asking for it says why.
					if v, err = branch(name); err != nil {
						continue
					}
				}
				list.RawSetString(name, v)
			}
			return list, nil
		},
	})
}

// A factError says that there is no such fact.
type factError struct {
	name, table string
	known       []string
}

// Error says which fact is not there.
func (e *factError) Error() string {
	if e.isData() {
		return fmt.Sprintf("no data %q in %s", e.name, e.table)
	}
	return fmt.Sprintf("no fact %q in %s", e.name, e.table)
}

// isData reports whether the table holds what the user configured, which is as
// strict as the facts.
func (e *factError) isData() bool { return strings.HasPrefix(e.table, "data") }

// Hint returns the nearest name, or how to ask for what may be absent.
func (e *factError) Hint() string {
	if hint := diag.DidYouMean(e.name, e.known); hint != "" {
		return hint
	}
	path := e.table + "." + e.name
	if e.isData() {
		return fmt.Sprintf("lookup(%q, nil) gives nil for what may be absent", path)
	}
	return fmt.Sprintf("fact(%q) gives nil for what may be absent", path[len("facts."):])
}

// luaValue converts plain data; tables become read-only. The path says how
// messages call it.
func (in *Interp) luaValue(path string, v any) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		contents := in.vm.CreateTable(len(v), 0)
		for i, e := range v {
			contents.RawSetInt(i+1, in.luaInside(e, func() string { return path + "[" + strconv.Itoa(i+1) + "]" }))
		}
		return in.readonly(readonly{name: path, contents: contents, array: true, missing: func(key lua.LValue) (lua.LValue, error) {
			if key.Type() == lua.LTNumber {
				return lua.LNil, nil
			}
			return lua.LNil, &factError{keyText(key), path, nil}
		}})
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		contents := in.vm.CreateTable(0, len(v))
		for _, name := range names {
			contents.RawSetString(name, in.luaInside(v[name], func() string { return path + "." + name }))
		}
		return in.readonly(readonly{name: path, contents: contents, missing: func(key lua.LValue) (lua.LValue, error) {
			if _, ok := v[keyText(key)]; ok {
				return lua.LNil, nil // it is there, and is nil
			}
			return lua.LNil, &factError{keyText(key), path, names}
		}})
	}
	return lua.LString(fmt.Sprint(v))
}

// luaInside is luaValue for what is inside of a table. Only tables are called by a
// path.
func (in *Interp) luaInside(v any, path func() string) lua.LValue {
	switch v.(type) {
	case []any, map[string]any:
		return in.luaValue(path(), v)
	}
	return in.luaValue("", v)
}

// fact is fact(path, default): the fact, or the default if there is none.
func (in *Interp) fact(L *lua.LState) int {
	path := L.CheckString(1)
	val, err := in.opts.Facts.Get(path)
	if _, missing := errors.AsType[*facts.NotFoundError](err); missing {
		L.Push(L.Get(2))
		return 1
	}
	if err != nil {
		in.throwError(L, err)
	}
	if v := in.luaValue("facts."+path, val); v != lua.LNil {
		L.Push(v)
		return 1
	}
	L.Push(L.Get(2))
	return 1
}

// envTable returns the table env.
func (in *Interp) envTable() *lua.LTable {
	return in.readonly(readonly{
		name:     "env",
		contents: in.vm.CreateTable(0, 0),
		missing: func(key lua.LValue) (lua.LValue, error) {
			if name, ok := key.(lua.LString); ok {
				if v, ok := in.opts.Env(string(name)); ok {
					return lua.LString(v), nil
				}
			}
			return lua.LNil, nil
		},
		list: func() (*lua.LTable, error) {
			return nil, errors.New("env cannot be listed: ask for one variable, such as env.HOME")
		},
	})
}
