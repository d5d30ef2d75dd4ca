package luaapi

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
)

// stdPrefix begins the names of the modules that ship with ccm.
const stdPrefix = "std."

// ships reports whether a module of that name ships with ccm.
func (ml *moduleLoader) ships(name string) bool {
	if ml.opts.Library == nil || !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Stat(ml.opts.Library, strings.ReplaceAll(name, ".", "/")+".lua")
	return err == nil
}

// shipsType reports whether the module std.NAME ships with ccm and returns the constructor of a type. Other modules are
// parts of these.
func (gt *globalTable) shipsType(name string) bool {
	if gt.library == nil || !luadata.IsName(name) {
		return false
	}
	text, err := fs.ReadFile(gt.library, "std/"+name+".lua")
	return err == nil && bytes.Contains(text, []byte("\nreturn ccm.type"))
}

// shippedNames returns the names of the shipped modules in order, such as line and str for std.line and std.str.
func (ml *moduleLoader) shippedNames() []string {
	var names []string
	files, _ := fs.Glob(ml.opts.Library, "std/*.lua") // which has no other error than a bad pattern
	for _, file := range files {
		names = append(names, strings.TrimSuffix(path.Base(file), ".lua"))
	}
	if preload, ok := ml.packageTable().RawGetString("preload").(*lua.LTable); ok {
		for _, module := range stringKeys(preload) {
			if name, ok := strings.CutPrefix(module, stdPrefix); ok {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// stdTable returns the table std, whose field NAME is what require returns for std.NAME. A module is loaded when its field
// is first read. Require is that of the code for which the table is.
func (ml *moduleLoader) stdTable(require *lua.LFunction) *lua.LTable {
	L := ml.vm
	contents, absent := L.CreateTable(0, 8), L.CreateTable(0, 1)
	absent.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		key := L.Get(2)
		v, err := ml.shippedField(L, require, key)
		if err != nil {
			ml.report.throwError(L, err)
		}
		contents.RawSet(key, v)
		L.Push(v)
		return 1
	}))
	t := ml.Tables.readonly(readonlyTable{name: "std", contents: contents, names: ml.shippedNames,
		missingField: func(key lua.LValue) (lua.LValue, error) { return ml.shippedField(ml.vm, require, key) },
		list: func() (*lua.LTable, error) {
			return nil, diag.SubjectCannot("std", "be listed: use one module, such as std.line")
		}})
	contents.Metatable = absent // which calls require in the coroutine that reads the field
	return t
}

// shippedField loads a module of the table std.
func (ml *moduleLoader) shippedField(L *lua.LState, require *lua.LFunction, key lua.LValue) (lua.LValue, error) {
	module := lua.LString(stdPrefix + keyText(key))
	if !ml.ships(string(module)) && ml.packageField(L, "preload").RawGet(module) == lua.LNil {
		return lua.LNil, &missingError{"std", keyText(key), ml.shippedNames()}
	}
	L.Push(require)
	L.Push(module)
	L.Call(1, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v, nil
}
