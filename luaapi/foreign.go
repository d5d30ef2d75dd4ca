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
func (ml *moduleLoader) foreignGlobal(name string) lua.LValue {
	L := ml.vm
	switch name {
	case "io":
		return ml.ioTable()
	case "collectgarbage":
		return L.NewFunction(ml.weak.collectGarbage)
	case "getfenv":
		return L.NewFunction(ml.getEnvironment)
	case "setfenv":
		return L.NewFunction(ml.setEnvironment)
	case "newproxy":
		return L.NewFunction(newProxy)
	}
	return lua.LNil
}

// vendoredGlobals returns the globals of the modules in vendor. It is one table for all of them: they see what one of them
// defines, and the site does not. A global of ccm is copied into it on first use, all of them once a module reads _G,
// which is the table: modules then find in it what they look for, and can give it a metatable.
func (ml *moduleLoader) vendoredGlobals() *lua.LTable {
	if ml.vendored != nil {
		return ml.vendored
	}
	L := ml.vm
	t, mt := L.CreateTable(0, 0), L.CreateTable(0, 1)
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		key := L.Get(2)
		if key == lua.LString("_G") {
			L.Push(ml.allVendored())
			return 1
		}
		v := ml.vendoredGlobal(L, key)
		t.RawSet(key, v)
		L.Push(v)
		return 1
	}))
	t.Metatable = mt
	ml.vendored = t
	return t
}

// vendoredGlobal returns a global as modules in vendor see it.
func (ml *moduleLoader) vendoredGlobal(L *lua.LState, key lua.LValue) lua.LValue {
	v := L.GetTable(ml.vm.Env, key) // which makes it if this is its first use
	var more []builtin
	switch keyText(key) {
	case "os":
		more = []builtin{{"getenv", ml.getVariable}, {"setlocale", setLocale}}
	case "debug":
		none := func(*lua.LState) int { return 0 }
		more = []builtin{{"gethook", none}, {"sethook", none}, {"setmetatable", ml.setMetatableOfAny}}
	case "require": // what is a module and a global in Lua is the one that modules in vendor have
		return L.NewFunction(func(L *lua.LState) int {
			switch name := L.CheckString(1); name {
			case "_G", "debug", "io", "os":
				L.Push(L.GetField(ml.vendored, name))
				return 1
			}
			return ml.require(L)
		})
	default:
		return v
	}
	own := copied(L, v.(*lua.LTable))
	ml.define(own, more)
	return own
}

// allVendored returns the globals of the modules in vendor with all that there are.
func (ml *moduleLoader) allVendored() *lua.LTable {
	L, t := ml.vm, ml.vendoredGlobals()
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
		take(name, ml.foreignGlobal(name))
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(ml.globals.makers)), stringKeys(L.Env)) {
		take(name, ml.vendoredGlobal(L, lua.LString(name)))
	}
	return t
}

// getEnvironment is getfenv.
func (ml *moduleLoader) getEnvironment(L *lua.LState) int {
	env := ml.vendoredGlobals()
	if c := ml.source.chunkOf(caller(L).node); c != nil && c.owner != nil {
		env = c.env
	}
	if level, ok := L.Get(1).(lua.LNumber); !ok || level != 0 {
		if running := ml.functionArgument(L, true); !running[0].IsG {
			env = running[0].Env
		}
	}
	if env == ml.vendored {
		env = ml.allVendored()
	}
	L.Push(env)
	return 1
}

// setEnvironment is setfenv.
func (ml *moduleLoader) setEnvironment(L *lua.LState) int {
	running := ml.functionArgument(L, false)
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
func (ml *moduleLoader) functionArgument(L *lua.LState, optional bool) []*lua.LFunction {
	if fn, ok := L.Get(1).(*lua.LFunction); ok {
		ml.checkOwner(L, fn)
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
	for level = ml.concat.scriptLevel(L, level); ; level++ {
		at, dbg, found := ml.limits.stackAt(L, level)
		if !found {
			break
		}
		v, err := at.GetInfo("lf", dbg, lua.LNil)
		fn, ok := v.(*lua.LFunction)
		if err != nil || !ok || len(out) > 0 && (fn.IsG || dbg.CurrentLine != hiddenLine) {
			break
		}
		ml.checkOwner(L, fn)
		out = append(out, fn)
	}
	if len(out) == 0 {
		L.ArgError(1, "invalid level")
	}
	return out
}

// checkOwner throws if the calling code is that of a package, and the function is not from it.
func (ml *moduleLoader) checkOwner(L *lua.LState, fn *lua.LFunction) {
	c := ml.source.chunkOf(caller(L).node)
	if c == nil || c.owner == nil {
		return
	}
	if from := ml.source.chunkOfFunction(fn); from == nil || from.owner != c.owner {
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
func (ml *moduleLoader) getVariable(L *lua.LState) int {
	if v, ok := ml.opts.Env(L.CheckString(1)); ok {
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
func (ml *moduleLoader) setMetatableOfAny(L *lua.LState) int {
	if v := L.Get(1); v.Type() == lua.LTString {
		L.CheckTypes(2, lua.LTNil, lua.LTTable)
		L.SetMetatable(v, L.Get(2))
		L.Push(v)
		return 1
	}
	return (&baseLib{ev: ml.evaluator}).setMetatable(L)
}
