package luaapi

import (
	"errors"
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// absent says what to do instead of what Lua has elsewhere and scripts of ccm
// do not have.
var absent = map[string]string{
	"io":             "a script only declares: write a file with file { ... }",
	"dofile":         "use require",
	"loadfile":       "use require",
	"module":         "a module returns a table",
	"setfenv":        "functions of a script share its globals",
	"getfenv":        "functions of a script share its globals",
	"collectgarbage": "memory looks after itself",
	"os.execute":     "a script only declares: run a command with exec { ... }",
	"os.exit":        "end a script with ccm.fail(message)",
	"os.getenv":      "read the environment with env.NAME",
	"os.remove":      `a script only declares: file { "/path", ensure = "absent" }`,
	"os.rename":      "a script only declares: use file or exec",
	"os.tmpname":     "a script only declares",
	"os.setlocale":   "there is one locale",
	"string.dump":    "functions cannot be written out",
}

// strict makes reading and writing an undefined global a mistake.
func (in *Interp) strict(globals *lua.LTable) {
	mt := in.vm.CreateTable(0, 3)
	mt.RawSetString("__index", in.vm.NewFunction(func(L *lua.LState) int {
		in.undefined(L, L.Get(2))
		return 0
	}))
	mt.RawSetString("__newindex", in.vm.NewFunction(func(L *lua.LState) int {
		in.throw(L, "pass values to modules as arguments", "a script cannot define the global %q", keyText(L.Get(2)))
		return 0
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	globals.Metatable = mt
}

// undefined throws the mistake that there is no global of that name.
func (in *Interp) undefined(L *lua.LState, key lua.LValue) {
	name := keyText(key)
	f := caller(L)
	hint := absent[name]
	if hint == "" && in.ships("std."+name) {
		hint = fmt.Sprintf("write local %s = require %q", name, "std."+name)
	}
	if hint == "" {
		hint = diag.DidYouMean(name, append(in.locals(f), in.names...))
	}
	in.throw(L, hint, "undefined global %q", name)
}

// locals returns the names of the variables that f can see.
func (in *Interp) locals(f frame) []string {
	if c := in.chunkOf(f.node); c != nil {
		return c.tree().locals(f.node)
	}
	return nil
}

// environment returns the globals as the code of c sees them: it reads through
// to the real ones. An assignment is a mistake, which is noted; the script goes
// on with the value, so that its other mistakes are found too.
func (in *Interp) environment(c *chunk) *lua.LTable {
	env := in.vm.CreateTable(0, 0)
	mt := in.vm.CreateTable(0, 3)
	globals := in.vm.Env
	mt.RawSetString("__index", globals)
	mt.RawSetString("__newindex", in.vm.NewFunction(func(L *lua.LState) int {
		name, value := keyText(L.Get(2)), L.Get(3)
		in.noteGlobal(L, name, value)
		env.RawSetString(name, value)
		if globals.RawGetString(name) == lua.LNil {
			globals.RawSetString(name, value)
		}
		return 0
	}))
	env.Metatable = mt
	return env
}

// noteGlobal records an assignment to a global, once for each place.
func (in *Interp) noteGlobal(L *lua.LState, name string, value lua.LValue) {
	f := caller(L)
	at := fmt.Sprint(f.node, f.file)
	if in.noted[at] {
		return
	}
	in.noted[at] = true
	if slices.Contains(in.names, name) {
		in.noteAt(L, f, fmt.Errorf("%q is a global of ccm and cannot be replaced", name), "for a variable write local "+name)
		return
	}
	hint := "write local " + name
	if value.Type() == lua.LTFunction {
		hint = "write local function " + name
	}
	if near := diag.Nearest(name, in.locals(f)); near != "" {
		hint = fmt.Sprintf("did you mean %q? A new variable is written local %s", near, name)
	}
	in.noteAt(L, f, fmt.Errorf("assignment to undefined global %q", name), hint)
}

// global returns a global without asking whether it is defined.
func (in *Interp) global(name string) lua.LValue { return in.vm.Env.RawGetString(name) }

// constructors defines the global of each type: a table that can be called. A
// table of Lua with that name, as package has, stays what it is.
func (in *Interp) constructors(globals *lua.LTable) {
	for _, t := range in.types {
		mt := in.vm.CreateTable(0, 5)
		mt.RawSetString("__call", in.vm.NewFunction(in.construct(t)))
		set := in.vm.NewFunction(in.setDefaults(t))
		if table, ok := globals.RawGetString(t.Name).(*lua.LTable); ok {
			table.RawSetString("defaults", set)
			table.Metatable = mt
			continue
		}
		globals.RawSetString(t.Name, in.constructorTable(t, mt, set))
	}
}

func (in *Interp) constructorTable(t *resource.Type, mt *lua.LTable, set *lua.LFunction) *lua.LTable {
	fields := in.vm.CreateTable(0, 1)
	fields.RawSetString("defaults", set)
	table := in.readonly(readonly{
		name:     t.Name,
		contents: fields,
		missing: func(key lua.LValue) (lua.LValue, error) {
			return lua.LNil, &missingError{t.Name, keyText(key), []string{"defaults"}}
		},
	})
	own := table.Metatable.(*lua.LTable)
	own.RawSetString("__call", mt.RawGetString("__call"))
	own.RawSetString("__tostring", in.vm.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LString("constructor " + t.Name))
		return 1
	}))
	return table
}

// isConstructor reports whether v is the global of a type.
func (in *Interp) isConstructor(v lua.LValue) bool {
	t, ok := v.(*lua.LTable)
	if !ok {
		return false
	}
	if in.made[t] {
		return true
	}
	for _, typ := range in.types {
		if in.global(typ.Name) == lua.LValue(t) {
			return true
		}
	}
	return false
}

// ccmTable returns the table ccm.
func (in *Interp) ccmTable() *lua.LTable {
	t := in.vm.CreateTable(0, 6)
	t.RawSetString("version", lua.LString(in.opts.Version))
	t.RawSetString("noop", lua.LBool(in.opts.Noop))
	t.RawSetString("warn", in.vm.NewFunction(func(L *lua.LState) int {
		in.opts.Warn(in.spot(caller(L)), in.words(L, " "))
		return 0
	}))
	t.RawSetString("optional", in.vm.NewFunction(func(L *lua.LState) int {
		L.Push(L.Get(1))
		return 1
	}))
	t.RawSetString("fail", in.vm.NewFunction(in.fail))
	t.RawSetString("lazy", in.vm.NewFunction(in.makeLazy))
	t.RawSetString("after", in.vm.NewFunction(in.callAfter))
	return in.readonly(readonly{name: "ccm", contents: t, missing: func(key lua.LValue) (lua.LValue, error) {
		return lua.LNil, &missingError{"ccm", keyText(key), stringKeys(t)}
	}})
}

// fail is ccm.fail: it ends the evaluation, and no pcall stops it.
func (in *Interp) fail(L *lua.LState) int {
	f, notes := in.origin(L)
	text := in.words(L, " ")
	if text == "" {
		text = "the script failed"
	}
	in.fatal = &diag.Error{Pos: in.spot(f), Err: errors.New(text), Notes: notes}
	L.Error(lua.LString(text), 0)
	return 0
}

// words returns the arguments of a call as print writes them.
func (in *Interp) words(L *lua.LState, sep string) string {
	out := ""
	for i := 1; i <= L.GetTop(); i++ {
		if i > 1 {
			out += sep
		}
		out += L.ToStringMeta(L.Get(i)).String()
	}
	return out
}
