package luaapi

import (
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// foreignNames are the globals that only the code of others has.
var foreignNames = []string{"io", "collectgarbage", "getfenv", "setfenv", "newproxy"}

// foreignGlobal returns a global that only the code of others has, nil for none. Their modules read them when they are
// loaded: io with its standard streams, and functions for the globals of a function. No file can be opened.
func (gt *globalTable) foreignGlobal(name string) lua.LValue {
	L := gt.in.vm
	switch name {
	case "io":
		return gt.ioTable()
	case "collectgarbage":
		return L.NewFunction(gt.in.weak.collectGarbage)
	case "getfenv":
		return L.NewFunction(gt.getEnvironment)
	case "setfenv":
		return L.NewFunction(gt.setEnvironment)
	case "newproxy":
		return L.NewFunction(newProxy)
	}
	return lua.LNil
}

// vendoredGlobals returns the globals of the modules in vendor. It is one table for all of them: they see what one of them
// defines, and the site does not. A global of ccm is copied into it on first use, all of them once a module reads _G,
// which is the table: modules then find in it what they look for, and can give it a metatable.
func (gt *globalTable) vendoredGlobals() *lua.LTable {
	if gt.vendored != nil {
		return gt.vendored
	}
	L := gt.in.vm
	t, mt := L.CreateTable(0, 0), L.CreateTable(0, 1)
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		key := L.Get(2)
		if key == lua.LString("_G") {
			L.Push(gt.allVendored())
			return 1
		}
		v := gt.vendoredGlobal(L, key)
		t.RawSet(key, v)
		L.Push(v)
		return 1
	}))
	t.Metatable = mt
	gt.vendored = t
	return t
}

// vendoredGlobal returns a global as modules in vendor see it.
func (gt *globalTable) vendoredGlobal(L *lua.LState, key lua.LValue) lua.LValue {
	v := L.GetTable(gt.in.vm.Env, key) // which makes it if this is its first use
	var more []builtin
	switch keyText(key) {
	case "os":
		more = []builtin{{"getenv", gt.getVariable}, {"setlocale", setLocale}}
	case "debug":
		none := func(*lua.LState) int { return 0 }
		more = []builtin{{"gethook", none}, {"sethook", none}, {"setmetatable", gt.setMetatableOfAny}}
	case "require": // what is a module and a global in Lua is the one that modules in vendor have
		return L.NewFunction(func(L *lua.LState) int {
			switch name := L.CheckString(1); name {
			case "_G", "debug", "io", "os":
				L.Push(L.GetField(gt.vendored, name))
				return 1
			}
			return gt.in.modules.require(L)
		})
	default:
		return v
	}
	own := copied(L, v.(*lua.LTable))
	gt.define(own, more)
	return own
}

// allVendored returns the globals of the modules in vendor with all that there are.
func (gt *globalTable) allVendored() *lua.LTable {
	L, t := gt.in.vm, gt.vendoredGlobals()
	if t.RawGetString("_G") != lua.LNil {
		return t
	}
	t.Metatable = lua.LNil
	t.RawSetString("_G", t)
	take := func(name string, v lua.LValue) {
		if t.RawGetString(name) == lua.LNil {
			t.RawSetString(name, v)
		}
	}
	for _, name := range foreignNames {
		take(name, gt.foreignGlobal(name))
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(gt.makers)), stringKeys(L.Env)) {
		take(name, gt.vendoredGlobal(L, lua.LString(name)))
	}
	return t
}

// getEnvironment is getfenv.
func (gt *globalTable) getEnvironment(L *lua.LState) int {
	env := gt.vendoredGlobals()
	if c := gt.in.source.chunkOf(caller(L).node); c != nil && c.owner != nil {
		env = c.env
	}
	if level, ok := L.Get(1).(lua.LNumber); !ok || level != 0 {
		if running := gt.functionArgument(L, true); !running[0].IsG {
			env = running[0].Env
		}
	}
	if env == gt.vendored {
		env = gt.allVendored()
	}
	L.Push(env)
	return 1
}

// setEnvironment is setfenv.
func (gt *globalTable) setEnvironment(L *lua.LState) int {
	running := gt.functionArgument(L, false)
	env := L.CheckTable(2)
	for _, fn := range running {
		if fn.IsG {
			L.RaiseError("'setfenv' cannot change environment of given object")
		}
		fn.Env = env
	}
	L.Push(running[0])
	return 1
}

// functionArgument returns argument 1, a function, or the running function at that level: 1 is the calling one, the default
// if optional. A part of a divided function is one for Lua, so the function that it is a part of follows it. A package gets
// its own functions only: others lead to globals that are denied to it.
func (gt *globalTable) functionArgument(L *lua.LState, optional bool) []*lua.LFunction {
	if fn, ok := L.Get(1).(*lua.LFunction); ok {
		gt.checkOwner(L, fn)
		return []*lua.LFunction{fn}
	}
	level := 0
	if optional {
		level = optInt(L, 1, 1)
	} else {
		level = checkInt(L, 1)
	}
	if level < 1 {
		L.ArgError(1, "level must be positive")
	}
	var out []*lua.LFunction
	for level = gt.in.concat.scriptLevel(L, level); ; level++ {
		at, dbg, found := gt.in.limits.stackAt(L, level)
		if !found {
			break
		}
		v, err := at.GetInfo("lf", dbg, lua.LNil)
		fn, ok := v.(*lua.LFunction)
		if err != nil || !ok || len(out) > 0 && (fn.IsG || dbg.CurrentLine != hiddenLine) {
			break
		}
		gt.checkOwner(L, fn)
		out = append(out, fn)
	}
	if len(out) == 0 {
		L.ArgError(1, "invalid level")
	}
	return out
}

// checkOwner throws if the calling code is that of a package, and the function is not from it.
func (gt *globalTable) checkOwner(L *lua.LState, fn *lua.LFunction) {
	c := gt.in.source.chunkOf(caller(L).node)
	if c == nil || c.owner == nil {
		return
	}
	if from := gt.in.source.chunkOfFunction(fn); from == nil || from.owner != c.owner {
		L.ArgError(1, "the function belongs to another module")
	}
}

// newProxy is newproxy: a userdata without a metatable, with a new one for true, or with that of the userdata given to it.
func newProxy(L *lua.LState) int {
	u := L.NewUserData()
	switch v := L.Get(1).(type) {
	case *lua.LUserData:
		u.Metatable = v.Metatable
	case lua.LBool:
		if v {
			u.Metatable = L.CreateTable(0, 0)
		}
	}
	L.Push(u)
	return 1
}

// getVariable is os.getenv, which reads what env of scripts does.
func (gt *globalTable) getVariable(L *lua.LState) int {
	if v, ok := gt.in.opts.Env(L.CheckString(1)); ok {
		L.Push(lua.LString(v))
	} else {
		L.Push(lua.LNil)
	}
	return 1
}

// setLocale is os.setlocale. There is the locale C only.
func setLocale(L *lua.LState) int {
	switch L.OptString(1, "C") {
	case "", "C", "POSIX":
		L.Push(lua.LString("C"))
	default:
		L.Push(lua.LNil)
	}
	return 1
}

// setMetatableOfAny is debug.setmetatable. It gives all texts a metatable too: a module takes away their methods while it
// runs a text that it does not trust.
func (gt *globalTable) setMetatableOfAny(L *lua.LState) int {
	if v := L.Get(1); v.Type() == lua.LTString {
		L.CheckTypes(2, lua.LTNil, lua.LTTable)
		L.SetMetatable(v, L.Get(2))
		L.Push(v)
		return 1
	}
	return (&baseLib{in: gt.in}).setMetatable(L)
}
