package luaapi

import (
	"fmt"
	"io"

	lua "github.com/yuin/gopher-lua"
)

// ioTable returns the table io for the code of others: the standard streams. What is written to them goes where print
// writes, and to read them gives nothing. No file can be opened.
func (ml *moduleLoader) ioTable() *lua.LTable {
	L := ml.vm
	t, meta, methods := L.CreateTable(0, 10), L.CreateTable(0, 2), L.CreateTable(0, 7)
	stream := func() *lua.LUserData {
		u := L.NewUserData()
		u.Metatable = meta
		return u
	}
	stdin, stdout, stderr := stream(), stream(), stream()
	write := func(L *lua.LState, from int) {
		for i := from; i <= L.GetTop(); i++ {
			L.CheckString(i)
			// If the standard error is closed there is no way to report it.
			_, _ = io.WriteString(ml.opts.Print, ml.textOf(L, L.Get(i)))
		}
	}
	returns := func(v lua.LValue) lua.LGFunction {
		return func(L *lua.LState) int {
			L.Push(v)
			return 1
		}
	}
	itself := func(L *lua.LState) int {
		L.SetTop(1)
		return 1
	}
	none := returns(lua.LNil)
	noFile := func(name string) lua.LString {
		return lua.LString(name + ": modules cannot open files (" + absentGlobals["io"] + ")")
	}
	lines := returns(L.NewFunction(none))
	// standard returns io.input or io.output, which return a stream and cannot set another.
	standard := func(u *lua.LUserData) lua.LGFunction {
		return func(L *lua.LState) int {
			if name, ok := L.Get(1).(lua.LString); ok {
				L.RaiseError("%s", noFile(string(name)))
			}
			L.Push(u)
			return 1
		}
	}
	meta.RawSetString("__index", methods)
	ml.define(meta, []builtin{{"__tostring", func(L *lua.LState) int {
		L.Push(lua.LString(fmt.Sprintf("file (%p)", L.CheckUserData(1))))
		return 1
	}}})
	ml.define(methods, []builtin{
		{"write", func(L *lua.LState) int {
			write(L, 2)
			return itself(L)
		}},
		{"read", none}, {"lines", lines}, {"seek", none},
		{"flush", itself}, {"setvbuf", itself}, {"close", itself},
	})
	t.RawSetString("stdin", stdin)
	t.RawSetString("stdout", stdout)
	t.RawSetString("stderr", stderr)
	ml.define(t, []builtin{
		{"write", func(L *lua.LState) int {
			write(L, 1)
			L.Push(stdout)
			return 1
		}},
		{"read", none}, {"input", standard(stdin)}, {"output", standard(stdout)}, {"flush", returns(stdout)},
		{"lines", func(L *lua.LState) int {
			if name, ok := L.Get(1).(lua.LString); ok {
				L.RaiseError("%s", noFile(string(name)))
			}
			return lines(L)
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
			L.Push(noFile(L.CheckString(1)))
			return 2
		}},
	})
	return t
}
