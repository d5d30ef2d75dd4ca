package luaapi

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// maxLoad is the longest text, in bytes, that load compiles: the parser cannot be interrupted.
const maxLoad = 1 << 20

// A baseLib holds the global functions of Lua.
type baseLib struct {
	ev      *evaluator
	modules *moduleLoader
	table   *tableLib
	iterate *lua.LFunction // the iterator of ipairs
}

// functions lists the global functions that are not gopher-lua's.
func (lib *baseLib) functions() []builtin {
	return []builtin{
		{"assert", lib.assert},
		{"error", lib.error},
		{"ipairs", lib.ipairs},
		{"load", lib.loadFunction},
		{"loadstring", lib.loadFunction},
		{"next", lib.nextFunction},
		{"pairs", lib.pairs},
		{"pcall", lib.pcall},
		{"print", lib.print},
		{"rawget", lib.rawget},
		{"rawlen", lib.rawlen},
		{"rawset", lib.rawset},
		{"setmetatable", lib.setMetatable},
		{"tonumber", lib.toNumber},
		{"tostring", lib.toString},
		{"unpack", lib.table.unpack},
		{"xpcall", lib.xpcall},
	}
}

// iterators takes the iterator functions of pairs and ipairs from gopher-lua.
func (lib *baseLib) iterators(origin *lua.LTable) {
	for _, it := range []struct {
		name string
		to   **lua.LFunction
	}{{"pairs", &lib.ev.next}, {"ipairs", &lib.iterate}} {
		lib.ev.vm.Push(origin.RawGetString(it.name))
		lib.ev.vm.Push(lib.ev.vm.CreateTable(0, 0))
		lib.ev.vm.Call(1, 1)
		*it.to = lib.ev.vm.Get(-1).(*lua.LFunction)
		lib.ev.vm.Pop(1)
	}
}

// pairs honors __pairs, as Lua does from 5.2 on.
func (lib *baseLib) pairs(L *lua.LState) int {
	if fn, ok := L.GetMetaField(L.Get(1), "__pairs").(*lua.LFunction); ok {
		L.Push(fn)
		L.Push(L.Get(1))
		L.Call(1, 3)
		return 3
	}
	t := lib.ev.Tables.Listing(L, L.CheckTable(1))
	L.Push(lib.ev.next)
	L.Push(t)
	L.Push(lua.LNil)
	return 3
}

// ipairs honors __ipairs, as Lua did in 5.2.
func (lib *baseLib) ipairs(L *lua.LState) int {
	if fn, ok := L.GetMetaField(L.Get(1), "__ipairs").(*lua.LFunction); ok {
		L.Push(fn)
		L.Push(L.Get(1))
		L.Call(1, 3)
		return 3
	}
	t := lib.ev.Tables.Contents(L.CheckTable(1))
	lib.ev.limits.length(L, t)
	L.Push(lib.iterate)
	L.Push(t)
	L.Push(lua.LNumber(0))
	return 3
}

func (lib *baseLib) nextFunction(L *lua.LState) int {
	k, v := lib.ev.Tables.Listing(L, L.CheckTable(1)).Next(L.Get(2))
	if k == lua.LNil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(k)
	L.Push(v)
	return 2
}

func (lib *baseLib) rawget(L *lua.LState) int {
	L.Push(lib.ev.Tables.Contents(L.CheckTable(1)).RawGet(L.CheckAny(2)))
	return 1
}

// rawlen returns what # does, as from Lua 5.2 on.
func (lib *baseLib) rawlen(L *lua.LState) int {
	if text, ok := L.Get(1).(lua.LString); ok {
		L.Push(lua.LNumber(len(text)))
		return 1
	}
	L.Push(lua.LNumber(lib.ev.limits.length(L, lib.ev.Tables.Contents(L.CheckTable(1)))))
	return 1
}

func (lib *baseLib) rawset(L *lua.LState) int {
	t := lib.ev.Tables.writable(L)
	L.RawSet(t, L.CheckAny(2), L.CheckAny(3))
	L.Push(t)
	return 1
}

// setMetatable takes only tables: for a number, gopher-lua's would change the metatable of all
// numbers.
func (lib *baseLib) setMetatable(L *lua.LState) int {
	t := L.CheckTable(1)
	L.CheckAny(2)
	L.CheckTypes(2, lua.LTNil, lua.LTTable)
	if L.GetMetaField(t, "__metatable") != lua.LNil {
		lib.ev.report.throw(L, "", "the metatable of the table is protected")
	}
	t.Metatable = L.Get(2)
	lib.ev.weak.add(t, t.Metatable)
	L.Push(t)
	return 1
}

// assert throws its message unchanged; it may be of any type. In modules of others a text gets the place, as in Lua 5.1.
func (lib *baseLib) assert(L *lua.LState) int {
	if lua.LVAsBool(L.CheckAny(1)) {
		return L.GetTop()
	}
	switch {
	case L.GetTop() == 1:
		L.RaiseError("assertion failed!")
	default:
		v := L.Get(2)
		if f, ok, _ := lib.ev.limits.frameAt(L, lib.ev.concat.scriptLevel(L, 1)); ok && lib.ev.source.isForeign(f) && lua.LVCanConvToString(v) {
			v = placed(f, v)
		}
		L.Error(v, 0)
	}
	return 0
}

// placed returns a text or number, which is thrown, with its place in front.
func placed(f frame, v lua.LValue) lua.LValue {
	return lua.LString(fmt.Sprintf("%s:%d: %s", f.file, f.node, lua.LVAsString(v)))
}

// error throws its argument. To a text or number it adds the place of the function at the level: 1 is the
// one that called error, 2 the caller of that one.
func (lib *baseLib) error(L *lua.LState) int {
	v, level := L.Get(1), optInt(L, 2, 1)
	if !lua.LVCanConvToString(v) || level < 1 {
		L.Error(v, 0)
	}
	text := lua.LValue(lua.LString(lua.LVAsString(v)))
	if f, ok, _ := lib.ev.limits.frameAt(L, lib.ev.concat.scriptLevel(L, level)); ok {
		text = placed(f, v)
	}
	L.Error(text, 0)
	return 0
}

func (lib *baseLib) print(L *lua.LState) int {
	// If the standard error is closed there is no way to report it.
	_, _ = fmt.Fprintln(lib.ev.opts.Print, lib.ev.words(L, "print", "\t"))
	return 0
}

func (lib *baseLib) pcall(L *lua.LState) int {
	L.CheckAny(1)
	return lib.protected(L, nil)
}

// xpcall passes arguments on, as Lua does from 5.2 on.
func (lib *baseLib) xpcall(L *lua.LState) int {
	L.CheckAny(1)
	handler := L.CheckFunction(2)
	L.Remove(2)
	return lib.protected(L, func(L *lua.LState, thrown lua.LValue) lua.LValue {
		L.Push(handler)
		L.Push(thrown)
		L.Call(1, 1)
		return L.Get(-1)
	})
}

// protected calls argument 1 with the others, and pushes true and the results, or false and the
// error.
func (lib *baseLib) protected(L *lua.LState, handler errorHandler) int {
	args := make([]lua.LValue, L.GetTop()-1)
	for i := range args {
		args[i] = L.Get(i + 2)
	}
	results, thrown := lib.ev.limits.protect(L, handler, L.Get(1), args...)
	if thrown != nil {
		L.Push(lua.LFalse)
		L.Push(thrown)
		return 2
	}
	reserve(L, len(results)+1)
	L.Push(lua.LTrue)
	for _, v := range results {
		L.Push(v)
	}
	return len(results) + 1
}

// loadFunction is load and loadstring: it takes a text, or a function that
// returns the text in pieces, then a name, the mode, which is ignored, and a table
// of globals.
func (lib *baseLib) loadFunction(L *lua.LState) int { return lib.loadIn(L, nil) }

// loadIn is the function load for the code of a package. The package is nil for scripts.
func (lib *baseLib) loadIn(L *lua.LState, of *Package) int {
	text, thrown := lib.chunkText(L)
	if thrown != nil {
		L.Push(lua.LNil)
		L.Push(thrown)
		return 2
	}
	chunkName := L.OptString(2, "")
	name := strings.TrimLeft(chunkName, "=@")
	if name == "" {
		name = "(load)"
	}
	f := caller(L)
	dir := ""
	from := lib.ev.source.chunkOf(f.node)
	if from != nil {
		dir = from.dir
	}
	fn, err := lib.modules.undump(L, text, of)
	var loaded *chunk
	if fn == nil && err == nil {
		fn, loaded, err = lib.modules.loadOf(of, name, dir, text, from != nil && from.foreign)
	}
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	if loaded != nil {
		loaded.loaded, loaded.source = true, chunkName
	}
	if from != nil && from.foreign { // what the code of others loads sees the globals that it has defined
		fn.Env = from.env
		if loaded != nil {
			loaded.env = from.env
		}
	}
	if env, ok := L.Get(4).(*lua.LTable); ok {
		fn.Env = env
	}
	L.Push(fn)
	return 1
}

// chunkText returns argument 1, or the text that it returns piece by piece. What it throws is the second result.
func (lib *baseLib) chunkText(L *lua.LState) (text string, thrown lua.LValue) {
	fn, ok := L.Get(1).(*lua.LFunction)
	if !ok {
		text := L.CheckString(1)
		if len(text) > maxLoad {
			L.ArgError(1, "the text "+diag.MustBe("at most %d MiB", maxLoad>>20).Error())
		}
		return text, nil
	}
	var b strings.Builder
	pcall := L.NewFunction(lib.pcall)
	for {
		L.Push(pcall)
		L.Push(fn)
		L.Call(1, 2)
		passed, piece := L.ToBool(-2), L.Get(-1)
		L.Pop(2)
		if !passed {
			return "", piece
		}
		if piece == lua.LNil || piece == lua.LString("") {
			return b.String(), nil
		}
		s, ok := piece.(lua.LString)
		if !ok {
			return "", lua.LString("the function given to load must return strings")
		}
		if b.WriteString(string(s)); b.Len() > maxLoad {
			L.ArgError(1, "the text "+diag.MustBe("at most %d MiB", maxLoad>>20).Error())
		}
	}
}
