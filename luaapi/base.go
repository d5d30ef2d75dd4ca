package luaapi

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxLoad is how long a text can be that load compiles: the parser cannot be
// interrupted.
const maxLoad = 1 << 20

// baseFunctions lists the global functions that are not gopher-lua's.
func (in *Interp) baseFunctions() []builtin {
	return []builtin{
		{"assert", in.assert},
		{"error", in.error},
		{"ipairs", in.ipairs},
		{"load", in.loadFunction},
		{"loadstring", in.loadFunction},
		{"next", in.nextFunction},
		{"pairs", in.pairs},
		{"pcall", in.pcall},
		{"print", in.print},
		{"rawget", in.rawget},
		{"rawset", in.rawset},
		{"setmetatable", in.setMetatable},
		{"tonumber", in.toNumber},
		{"unpack", in.unpack},
		{"xpcall", in.xpcall},
	}
}

// iterators takes from gopher-lua what its pairs and ipairs return.
func (in *Interp) iterators(origin *lua.LTable) {
	for _, it := range []struct {
		name string
		to   **lua.LFunction
	}{{"pairs", &in.next}, {"ipairs", &in.iterate}} {
		in.vm.Push(origin.RawGetString(it.name))
		in.vm.Push(in.vm.CreateTable(0, 0))
		in.vm.Call(1, 1)
		*it.to = in.vm.Get(-1).(*lua.LFunction)
		in.vm.Pop(1)
	}
}

// pairs honours __pairs, as Lua does from 5.2 on.
func (in *Interp) pairs(L *lua.LState) int {
	if fn, ok := L.GetMetaField(L.Get(1), "__pairs").(*lua.LFunction); ok {
		L.Push(fn)
		L.Push(L.Get(1))
		L.Call(1, 3)
		return 3
	}
	t := in.listing(L, L.CheckTable(1))
	L.Push(in.next)
	L.Push(t)
	L.Push(lua.LNil)
	return 3
}

// ipairs honours __ipairs, as Lua did in 5.2.
func (in *Interp) ipairs(L *lua.LState) int {
	if fn, ok := L.GetMetaField(L.Get(1), "__ipairs").(*lua.LFunction); ok {
		L.Push(fn)
		L.Push(L.Get(1))
		L.Call(1, 3)
		return 3
	}
	t := in.open(L.CheckTable(1))
	L.Push(in.iterate)
	L.Push(t)
	L.Push(lua.LNumber(0))
	return 3
}

func (in *Interp) nextFunction(L *lua.LState) int {
	k, v := in.listing(L, L.CheckTable(1)).Next(L.Get(2))
	if k == lua.LNil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(k)
	L.Push(v)
	return 2
}

func (in *Interp) rawget(L *lua.LState) int {
	L.Push(in.open(L.CheckTable(1)).RawGet(L.CheckAny(2)))
	return 1
}

func (in *Interp) rawset(L *lua.LState) int {
	t := in.writable(L, 1)
	L.RawSet(t, L.CheckAny(2), L.CheckAny(3))
	L.Push(t)
	return 1
}

// setMetatable takes only tables: gopher-lua's would change the metatable of all
// numbers if it is given one.
func (in *Interp) setMetatable(L *lua.LState) int {
	t := L.CheckTable(1)
	L.CheckTypes(2, lua.LTNil, lua.LTTable)
	if L.GetMetaField(t, "__metatable") != lua.LNil {
		in.throw(L, "", "the metatable of the table is protected")
	}
	t.Metatable = L.Get(2)
	L.Push(t)
	return 1
}

// writable returns argument n, a table that is not read-only.
func (in *Interp) writable(L *lua.LState, n int) *lua.LTable {
	t := L.CheckTable(n)
	if r, ok := in.readonlies[t]; ok {
		in.throw(L, "copy what you want to change", "%s is read-only", r.name)
	}
	return t
}

func (in *Interp) unpack(L *lua.LState) int {
	t := in.open(L.CheckTable(1))
	from := L.OptInt(2, 1)
	to := L.OptInt(3, t.Len())
	if from > to {
		return 0
	}
	if to-from < 0 || to-from >= registrySize {
		L.RaiseError("registry overflow")
	}
	for i := from; i <= to; i++ {
		L.Push(t.RawGetInt(i))
	}
	return to - from + 1
}

// assert throws its message as it is, of whatever type.
func (in *Interp) assert(L *lua.LState) int {
	if lua.LVAsBool(L.CheckAny(1)) {
		return L.GetTop()
	}
	switch {
	case L.GetTop() == 1:
		L.RaiseError("assertion failed")
	default:
		L.Error(L.Get(2), 0)
	}
	return 0
}

// error throws its argument. To a text it adds the place of the function at that
// level: 1 is the one that called error, 2 the one that called it.
func (in *Interp) error(L *lua.LState) int {
	v, level := L.Get(1), L.OptInt(2, 1)
	text, ok := v.(lua.LString)
	if !ok || level < 1 {
		L.Error(v, 0)
	}
	if f, ok, _ := frameAt(L, in.scriptLevel(L, level)); ok {
		text = lua.LString(fmt.Sprintf("%s:%d: %s", f.file, f.node, text))
	}
	L.Error(text, 0)
	return 0
}

func (in *Interp) print(L *lua.LState) int {
	// There is nobody to tell if the standard error is closed.
	_, _ = fmt.Fprintln(in.opts.Print, in.words(L, "\t"))
	return 0
}

// over reports whether the evaluation has come to an end that no script can
// prevent.
func (in *Interp) over() bool { return in.fatal != nil || in.ctx.Err() != nil }

func (in *Interp) pcall(L *lua.LState) int {
	L.CheckAny(1)
	defer in.protect(L)()
	err := L.PCall(L.GetTop()-1, lua.MultRet, nil)
	return in.protected(L, err)
}

// maxProtected is how many calls of pcall and xpcall can be inside one another. Lua
// itself has the same limit.
const maxProtected = 200

// protect begins a call whose errors are caught.
func (in *Interp) protect(L *lua.LState) (end func()) {
	if len(in.protecting) == maxProtected {
		L.RaiseError("stack overflow in protected calls")
	}
	in.protecting = append(in.protecting, L)
	return func() { in.protecting = in.protecting[:len(in.protecting)-1] }
}

// protected returns the results of pcall and xpcall: what is on the stack, or
// the error.
func (in *Interp) protected(L *lua.LState, err error) int {
	if err == nil {
		L.Insert(lua.LTrue, 1)
		return L.GetTop()
	}
	thrown := lua.LValue(lua.LString(err.Error()))
	if api, ok := err.(*lua.ApiError); ok {
		thrown = api.Object
		if api.Type == lua.ApiErrorPanic {
			thrown = lua.LString(panicked(thrown).Error())
		}
	}
	if in.over() {
		panic(err) // as it is: to make it anew, once for each call, takes its time
	}
	L.Push(lua.LFalse)
	L.Push(in.plain(thrown))
	return 2
}

// xpcall passes arguments on, as Lua does from 5.2 on.
func (in *Interp) xpcall(L *lua.LState) int {
	L.CheckAny(1)
	handler := L.CheckFunction(2)
	L.Remove(2)
	defer in.protect(L)()
	err := L.PCall(L.GetTop()-1, lua.MultRet, L.NewFunction(func(L *lua.LState) int {
		if in.over() {
			L.Push(L.Get(1))
			return 1
		}
		thrown := in.plain(L.Get(1))
		L.Push(handler)
		L.Push(thrown)
		L.Call(1, 1)
		return 1
	}))
	return in.protected(L, err)
}

// loadFunction is load and loadstring: it takes a text, or a function that
// gives the text piece by piece, then a name, what Lua calls the mode, which is
// always t here, and a table of globals.
func (in *Interp) loadFunction(L *lua.LState) int {
	text, ok := in.pieces(L)
	if !ok {
		L.Push(lua.LNil)
		L.Push(lua.LString("the function given to load must return strings"))
		return 2
	}
	name := strings.TrimLeft(L.OptString(2, "=(load)"), "=@")
	f := caller(L)
	dir := ""
	if c := in.chunkOf(f.node); c != nil {
		dir = c.dir
	}
	fn, _, err := in.load(name, dir, text)
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	if env, ok := L.Get(4).(*lua.LTable); ok {
		fn.Env = env
	}
	L.Push(fn)
	return 1
}

// pieces returns the text that argument 1 is or gives.
func (in *Interp) pieces(L *lua.LState) (string, bool) {
	fn, ok := L.Get(1).(*lua.LFunction)
	if !ok {
		text := L.CheckString(1)
		if len(text) > maxLoad {
			L.ArgError(1, fmt.Sprintf("the text is longer than %d MiB", maxLoad>>20))
		}
		return text, true
	}
	var b strings.Builder
	for {
		L.Push(fn)
		L.Call(0, 1)
		piece := L.Get(-1)
		L.Pop(1)
		if piece == lua.LNil || piece == lua.LString("") {
			return b.String(), true
		}
		s, ok := piece.(lua.LString)
		if !ok {
			return "", false
		}
		if b.WriteString(string(s)); b.Len() > maxLoad {
			L.ArgError(1, fmt.Sprintf("the text is longer than %d MiB", maxLoad>>20))
		}
	}
}

// traceback is debug.traceback: a message and the calls that are running.
func (in *Interp) traceback(L *lua.LState) int {
	var b strings.Builder
	if msg, ok := L.Get(1).(lua.LString); ok {
		b.WriteString(string(in.plain(msg).(lua.LString)) + "\n")
	}
	b.WriteString("stack traceback:")
	for _, f := range trace(L) {
		b.WriteString("\n\t" + in.place(f.node, f.file).String())
	}
	L.Push(lua.LString(b.String()))
	return 1
}
