package luaapi

import (
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// dumpMark begins what string.dump returns, as in Lua. The number of the function follows: it can be loaded in the same run
// only.
const dumpMark = "\x1bLua ccm "

// A dumpedFunction is a function that string.dump has written out.
type dumpedFunction struct {
	proto *lua.FunctionProto
	owner *Package // only code of the same package may load it
}

// openDump gives modules of others string.dump, which scripts of the site do not have.
func (ml *moduleLoader) openDump(strings *lua.LTable) {
	dump := ml.vm.NewFunction(ml.dump)
	mt := ml.vm.CreateTable(0, 2)
	mt.RawSetString("__index", ml.vm.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LNil)
		if L.Get(2) == lua.LString("dump") {
			if c := ml.source.chunkOf(caller(L).node); c != nil && c.foreign {
				L.Push(dump)
			}
		}
		return 1
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	strings.Metatable = mt
}

// dump is string.dump.
func (ml *moduleLoader) dump(L *lua.LState) int {
	fn := L.CheckFunction(1)
	if fn.IsG {
		L.RaiseError("unable to dump given function")
	}
	ml.checkOwner(L, fn)
	d := dumpedFunction{proto: fn.Proto}
	if c := ml.source.chunkOf(caller(L).node); c != nil {
		d.owner = c.owner
	}
	i := slices.Index(ml.dumped, d)
	if i < 0 {
		i = len(ml.dumped)
		ml.dumped = append(ml.dumped, d)
	}
	L.Push(lua.LString(dumpMark + strconv.Itoa(i+1)))
	return 1
}

// undump returns a copy of a function that string.dump has written out, and nil for other texts. The variables of the
// functions around it are nil in the copy.
func (ml *moduleLoader) undump(L *lua.LState, text string, owner *Package) (*lua.LFunction, error) {
	digits, ok := strings.CutPrefix(text, dumpMark)
	if !ok {
		return nil, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > len(ml.dumped) || ml.dumped[n-1].owner != owner {
		return nil, diag.SubjectCannot("a function of string.dump", "be loaded in another run")
	}
	fn := L.NewFunctionFromProto(ml.dumped[n-1].proto)
	for i := range fn.Upvalues {
		fn.Upvalues[i] = &lua.Upvalue{}
		fn.Upvalues[i].SetValue(lua.LNil)
	}
	return fn, nil
}
