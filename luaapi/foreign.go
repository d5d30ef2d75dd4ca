package luaapi

import (
	"io"

	lua "github.com/yuin/gopher-lua"
)

// foreignGlobal returns a global that only the code of others has, nil for none. Their modules read them when they are
// loaded: io with its standard streams, and functions for the globals of a function. No file can be opened.
func (gt *globalTable) foreignGlobal(name string) lua.LValue {
	L := gt.in.vm
	switch name {
	case "io":
		return gt.ioTable()
	case "collectgarbage": // Go collects it
		return L.NewFunction(func(L *lua.LState) int {
			L.Push(lua.LNumber(0))
			return 1
		})
	case "getfenv":
		return L.NewFunction(func(L *lua.LState) int {
			L.Push(gt.functionArgument(L, true).Env)
			return 1
		})
	case "setfenv":
		return L.NewFunction(func(L *lua.LState) int {
			fn := gt.functionArgument(L, false)
			fn.Env = L.CheckTable(2)
			L.Push(fn)
			return 1
		})
	}
	return lua.LNil
}

// functionArgument returns the function in Lua that is argument 1, or the calling one for 1, or if optional for nothing.
// Other levels of the stack depend on how ccm divides functions, so they are refused.
func (gt *globalTable) functionArgument(L *lua.LState, optional bool) *lua.LFunction {
	level := L.Get(1)
	if optional && level == lua.LNil {
		level = lua.LNumber(1)
	}
	fn, ok := level.(*lua.LFunction)
	if level == lua.LNumber(1) {
		if at, dbg, found := gt.in.limits.stackAt(L, 1); found {
			v, _ := at.GetInfo("f", dbg, lua.LNil)
			fn, ok = v.(*lua.LFunction)
		}
	}
	if !ok || fn.IsG {
		L.ArgError(1, "a function in Lua, or 1, expected")
	}
	return fn
}

// ioTable returns the table io for the code of others.
func (gt *globalTable) ioTable() *lua.LTable {
	L := gt.in.vm
	t, methods := L.CreateTable(0, 6), L.CreateTable(0, 4)
	meta := L.CreateTable(0, 1)
	meta.RawSetString("__index", methods)
	stream := func() *lua.LUserData {
		u := L.NewUserData()
		u.Metatable = meta
		return u
	}
	write := func(L *lua.LState, from int) {
		for i := from; i <= L.GetTop(); i++ {
			// If the standard error is closed there is no way to report it.
			_, _ = io.WriteString(gt.in.opts.Print, L.CheckString(i))
		}
	}
	itself := func(L *lua.LState) int {
		L.SetTop(1)
		return 1
	}
	gt.define(methods, []builtin{
		{"write", func(L *lua.LState) int {
			write(L, 2)
			return itself(L)
		}},
		{"flush", itself}, {"setvbuf", itself}, {"close", itself},
	})
	t.RawSetString("stdout", stream())
	t.RawSetString("stderr", stream())
	gt.define(t, []builtin{
		{"write", func(L *lua.LState) int {
			write(L, 1)
			L.Push(t.RawGetString("stdout"))
			return 1
		}},
		{"type", func(L *lua.LState) int {
			L.Push(lua.LNil)
			if u, ok := L.CheckAny(1).(*lua.LUserData); ok && u.Metatable == lua.LValue(meta) {
				L.Push(lua.LString("file"))
			}
			return 1
		}},
		{"open", func(L *lua.LState) int {
			L.Push(lua.LNil)
			L.Push(lua.LString(L.CheckString(1) + ": modules open no files (" + absentGlobals["io"] + ")"))
			return 2
		}},
	})
	return t
}
