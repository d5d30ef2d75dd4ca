package luaapi

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// factsTable returns the table facts. Each branch is gathered when a script first reads it.
func (ts *Tables) factsTable() *lua.LTable {
	contents := ts.vm.CreateTable(0, 16)
	names := ts.opts.Facts.Names()
	branch := func(name string) (lua.LValue, error) {
		val, err := ts.opts.Facts.Branch(name)
		if err != nil {
			return lua.LNil, err
		}
		v := ts.Value("facts."+name, val)
		contents.RawSetString(name, v)
		return v, nil
	}
	return ts.readonly(readonlyTable{
		name:     "facts",
		contents: contents,
		names:    ts.opts.Facts.Names,
		missingField: func(key lua.LValue) (lua.LValue, error) {
			name, ok := key.(lua.LString)
			if !ok {
				return lua.LNil, &unknownNameError{keyText(key), "facts", names}
			}
			v, err := branch(string(name))
			if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
				return lua.LNil, &unknownNameError{nf.Part, "facts", names}
			}
			return v, err
		},
		list: func() (*lua.LTable, error) {
			list := ts.vm.CreateTable(0, len(names))
			for _, name := range names {
				v := contents.RawGetString(name)
				if g, _ := ts.opts.Facts.Gatherer(name); g.OnlyNamed {
					continue
				}
				if v == lua.LNil {
					var err error
					// A fact that cannot be gathered is left out; reading it throws the reason.
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

// An unknownNameError is the error that facts or data have no such name.
type unknownNameError struct {
	name, table string
	names       []string
}

// Error names the fact or data.
func (e *unknownNameError) Error() string {
	if e.isData() {
		return fmt.Sprintf("no data %q in %s", e.name, e.table)
	}
	return fmt.Sprintf("no fact %q in %s", e.name, e.table)
}

// isData reports whether the table has data of the user. A missing name in data is nil, unless it
// looks like a misspelling of an existing one. In facts a missing name is always a mistake.
func (e *unknownNameError) isData() bool { return strings.HasPrefix(e.table, "data") }

// Hint returns the nearest name, or how to ask for a value that may be missing.
func (e *unknownNameError) Hint() string {
	if e.isData() {
		return diag.DidYouMean(e.name, e.names)
	}
	path := (e.table + "." + e.name)[len("facts."):]
	return cmp.Or(facts.HintElsewhere(path), diag.DidYouMean(e.name, e.names),
		fmt.Sprintf("fact(%q) returns nil if it does not exist", path))
}

// wholeNumber returns an integer as a number or, if a number of Lua cannot hold it exactly, as text.
func wholeNumber(i int64) lua.LValue {
	if f := float64(i); f < 1<<63 && int64(f) == i {
		return lua.LNumber(f)
	}
	return lua.LString(strconv.FormatInt(i, 10))
}

// Value converts plain data: nil, bool, int64, float64, string, []any and map[string]any. Tables
// become read-only, and an unknown name in them is a mistake. An integer that a number of Lua
// cannot hold is text. Path is the name of the value in messages, such as data.web.
func (ts *Tables) Value(path string, v any) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(v)
	case int64:
		return wholeNumber(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case *data.SealedValue:
		return ts.opened(v)
	case []any:
		contents := ts.vm.CreateTable(len(v), 0)
		for i, e := range v {
			contents.RawSetInt(i+1, ts.nestedValue(e, func() string { return path + "[" + strconv.Itoa(i+1) + "]" }))
		}
		return ts.readonly(readonlyTable{name: path, contents: contents, array: true, missingField: func(key lua.LValue) (lua.LValue, error) {
			if key.Type() == lua.LTNumber {
				return lua.LNil, nil
			}
			return lua.LNil, &unknownNameError{keyText(key), path, nil}
		}})
	case map[string]any:
		if sealed := sealedNames(v); len(sealed) > 0 {
			return ts.sealedTable(path, v, sealed)
		}
		names := slices.Sorted(maps.Keys(v))
		contents := ts.vm.CreateTable(0, len(v))
		for _, name := range names {
			contents.RawSetString(name, ts.nestedValue(v[name], func() string { return path + "." + name }))
		}
		return ts.readonly(readonlyTable{name: path, contents: contents, missingField: func(key lua.LValue) (lua.LValue, error) {
			if _, ok := v[keyText(key)]; ok {
				return lua.LNil, nil // it exists and is nil
			}
			return lua.LNil, &unknownNameError{keyText(key), path, names}
		}})
	}
	return lua.LString(fmt.Sprint(v))
}

// nestedValue is Value for a value in a table. Only tables need their path, for messages.
func (ts *Tables) nestedValue(v any, path func() string) lua.LValue {
	switch v.(type) {
	case []any, map[string]any:
		return ts.Value(path(), v)
	}
	return ts.Value("", v)
}

// fact is fact(path, default): the fact, or the default if there is none.
func (ts *Tables) fact(L *lua.LState) int {
	path := L.CheckString(1)
	val, err := ts.opts.Facts.Get(path)
	if _, missing := errors.AsType[*facts.NotFoundError](err); missing {
		L.Push(L.Get(2))
		return 1
	}
	if err != nil {
		ts.report.throwError(L, err)
	}
	if v := ts.Value("facts."+path, val); v != lua.LNil {
		L.Push(v)
		return 1
	}
	L.Push(L.Get(2))
	return 1
}

// envTable returns the table env.
func (ts *Tables) envTable() *lua.LTable {
	return ts.readonly(readonlyTable{
		name:     "env",
		contents: ts.vm.CreateTable(0, 0),
		missingField: func(key lua.LValue) (lua.LValue, error) {
			if name, ok := key.(lua.LString); ok {
				if v, ok := ts.opts.Env(string(name)); ok {
					return lua.LString(v), nil
				}
			}
			return lua.LNil, nil
		},
		list: func() (*lua.LTable, error) {
			return nil, diag.SubjectCannot("env", "be listed: read one variable, such as env.HOME")
		},
	})
}
