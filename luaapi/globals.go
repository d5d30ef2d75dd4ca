package luaapi

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// absentGlobals has a hint for each global of Lua, of any version, that scripts of ccm do not have, and for fields of
// their tables. Such a global is nil, so that a module can ask for it; to use it is a mistake.
var absentGlobals = map[string]string{
	"io":             "scripts only declare: write a file with file { ... }",
	"dofile":         "use require",
	"loadfile":       "use require",
	"module":         "return a table from the module",
	"setfenv":        "all functions of a script share its globals",
	"getfenv":        "all functions of a script share its globals",
	"collectgarbage": "memory is managed automatically",
	"bit":            "use a Lua module for bit operations",
	"bit32":          "use a Lua module for bit operations",
	"jit":            "this is not LuaJIT",
	"ffi":            "this is not LuaJIT",
	"newproxy":       "use setmetatable({}, ...)",
	"utf8":           `the pattern "[^\128-\191][\128-\191]*" matches one character of UTF-8`,
	"warn":           "use ccm.warn(message)",
	"_ENV":           "pass a table of globals to load: load(text, name, \"t\", globals)",
	"os.execute":     "scripts only declare: run a command with exec { ... }",
	"os.exit":        "end a script with ccm.fail(message)",
	"os.getenv":      "read the environment with env.NAME",
	"os.remove":      `scripts only declare: use file { "/path", ensure = "absent" }`,
	"os.rename":      "scripts only declare: use file or exec",
	"os.tmpname":     "scripts only declare",
	"os.setlocale":   "only the C locale is supported",
	"string.dump":    "functions cannot be serialized",
	// Words of Ansible, Puppet and others.
	"apt":         packageHint,
	"dnf":         packageHint,
	"yum":         packageHint,
	"pip":         "use std.language_package",
	"copy":        fileHint,
	"command":     execHint,
	"shell":       execHint,
	"systemd":     serviceHint,
	"lineinfile":  "use std.line",
	"blockinfile": "use std.block",
	"unarchive":   "use archive",
	"include":     "use require",
	"notify":      "name resources to restart with refresh or subscribe",
}

const (
	packageHint = `use package { "name" }`
	fileHint    = `use file { "/path", source = "..." }`
	execHint    = `use exec { "name", command = "..." }`
	serviceHint = `use service { "name", ensure = "running" }`
)

// A globalTable knows the globals of scripts.
type globalTable struct {
	library    fs.FS                                   // the modules that ship with ccm, or nil
	names      []string                                // for "did you mean"
	makers     map[string]func(*lua.LState) lua.LValue // of globals that are made on first use
	fields     map[string]func(*lua.LState) lua.LValue // of the table ccm, added by packages above this one
	fieldNames []string
}

// makeStrict makes reading and writing an undefined global a mistake.
func (ml *moduleLoader) makeStrict(globals *lua.LTable) {
	mt := ml.vm.CreateTable(0, 3)
	mt.RawSetString("__index", ml.vm.NewFunction(func(L *lua.LState) int {
		L.Push(ml.undefined(L, L.Get(2)))
		return 1
	}))
	mt.RawSetString("__newindex", ml.vm.NewFunction(func(L *lua.LState) int {
		if c := ml.source.chunkOf(caller(L).node); c != nil && c.foreign {
			c.env.RawSet(L.Get(2), L.Get(3))
			return 0
		}
		ml.report.throw(L, "pass values to modules as arguments", "a script cannot define the global %q", keyText(L.Get(2)))
		return 0
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	globals.Metatable = mt
}

// undefined returns the value of a global that no script has: what modules of others have defined or have instead, nil for
// those of Lua. In other files it throws a mistake.
func (ml *moduleLoader) undefined(L *lua.LState, key lua.LValue) lua.LValue {
	name, f := keyText(key), caller(L)
	if c := ml.source.chunkOf(f.node); c != nil && c.foreign {
		if v := c.env.RawGet(key); v != lua.LNil {
			return v
		}
		v := ml.foreignGlobal(name)
		if v != lua.LNil {
			c.env.RawSet(key, v)
		}
		return v
	}
	if _, ok := absentGlobals[name]; ok {
		return lua.LNil
	}
	ml.report.throw(L, ml.globals.undefinedHint(name, ml.source.locals(f), ml.source.isFieldValue(f)), "undefined global %q", name)
	return lua.LNil
}

// undefinedHint returns what to write in place of an undefined global. Locals are the visible local variables. Value is
// set if the name is the value of a field.
func (gt *globalTable) undefinedHint(name string, locals []string, value bool) string {
	if hint := absentGlobals[name]; hint != "" {
		return hint
	}
	if !value && gt.shipsType(name) {
		return "use " + stdPrefix + name
	}
	return MisspelledHint(name, locals, gt.names, value)
}

// MisspelledHint returns what to write in place of an undefined name: a similar one or, where it is the value of a field,
// the name in quotes.
func MisspelledHint(name string, locals, globals []string, value bool) string {
	switch {
	case !value:
		return diag.DidYouMean(name, append(locals, globals...))
	case diag.Nearest(name, locals) != "":
		return diag.DidYouMean(name, locals)
	}
	return fmt.Sprintf("a text needs quotes: %q", name)
}

// noteGlobal records an assignment to a global, once for each place.
func (rp *mistakeCollector) noteGlobal(L *lua.LState, name string, value lua.LValue) {
	f := caller(L)
	at := fmt.Sprint(f.node, f.file)
	if rp.assigned[at] {
		return
	}
	rp.assigned[at] = true
	if slices.Contains(rp.globals.names, name) {
		rp.noteAt(L, f, diag.SubjectCannot(fmt.Sprintf("%q is a global of ccm and", name), "be replaced"),
			"declare a variable with local "+name)
		return
	}
	hint := "declare it with local " + name
	if value.Type() == lua.LTFunction {
		hint = "declare it with local function " + name
	}
	if near := diag.Nearest(name, rp.source.locals(f)); near != "" {
		hint = fmt.Sprintf("did you mean %q? declare a new variable with local %s", near, name)
	}
	rp.noteAt(L, f, fmt.Errorf("assignment to undefined global %q", name), hint)
}

// global returns a global without checking that it is defined.
func global(L *lua.LState, name string) lua.LValue { return L.G.Global.RawGetString(name) }

// defineConstructors defines the global of each type: a table that can be called. A
// table of Lua with that name, package, keeps its fields.
func (dc *declarer) defineConstructors(globals *lua.LTable) {
	for _, t := range dc.types {
		mt := dc.vm.CreateTable(0, 5)
		mt.RawSetString("__call", dc.vm.NewFunction(dc.construct(t)))
		set := dc.vm.NewFunction(dc.setDefaults(t))
		if table, ok := globals.RawGetString(t.Name).(*lua.LTable); ok {
			table.RawSetString("defaults", set)
			table.Metatable = mt
			continue
		}
		globals.RawSetString(t.Name, dc.constructorTable(t, mt, set))
	}
}

func (dc *declarer) constructorTable(t *resource.Type, mt *lua.LTable, set *lua.LFunction) *lua.LTable {
	fields := dc.vm.CreateTable(0, 1)
	fields.RawSetString("defaults", set)
	table := dc.Tables.readonly(readonlyTable{
		name:     t.Name,
		contents: fields,
		missingField: func(key lua.LValue) (lua.LValue, error) {
			return lua.LNil, &missingError{t.Name, keyText(key), []string{"defaults"}}
		},
	})
	own := table.Metatable.(*lua.LTable)
	own.RawSetString("__call", mt.RawGetString("__call"))
	own.RawSetString("__tostring", dc.vm.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LString("constructor " + t.Name))
		return 1
	}))
	return table
}

// isConstructor reports whether v is the global of a type.
func (dc *declarer) isConstructor(v lua.LValue) bool {
	t, ok := v.(*lua.LTable)
	if !ok {
		return false
	}
	if dc.constructors[t] {
		return true
	}
	for _, typ := range dc.types {
		if global(dc.vm, typ.Name) == lua.LValue(t) {
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
		in.opts.Warn(in.source.framePos(caller(L)), in.words(L, "ccm.warn", " "))
		return 0
	}))
	t.RawSetString("optional", in.vm.NewFunction(func(L *lua.LState) int {
		L.Push(L.Get(1))
		return 1
	}))
	t.RawSetString("fail", in.vm.NewFunction(in.fail))
	t.RawSetString("lazy", in.vm.NewFunction(in.results.makeLazy))
	t.RawSetString("defaults", in.vm.NewFunction(in.declarer.setCommonDefaults))
	t.RawSetString("resources", in.vm.NewFunction(in.declarer.collect))
	t.RawSetString("after", in.vm.NewFunction(in.results.callAfter))
	return in.Tables.readonly(readonlyTable{name: "ccm", contents: t, missingField: func(key lua.LValue) (lua.LValue, error) {
		return lua.LNil, &missingError{"ccm", keyText(key), stringKeys(t)}
	}})
}

// fail is ccm.fail: it ends the evaluation, and no pcall stops it.
func (ev *evaluator) fail(L *lua.LState) int {
	f, notes := ev.source.origin(L)
	text := ev.words(L, "ccm.fail", " ")
	if text == "" {
		text = "the script failed"
	}
	ev.report.fatal = &diag.Error{Pos: ev.source.framePos(f), Err: errors.New(text), Notes: notes}
	L.Error(lua.LString(text), 0)
	return 0
}

// words returns the arguments of a call as print writes them.
func (ev *evaluator) words(L *lua.LState, function, sep string) string {
	var out strings.Builder
	for i := 1; i <= L.GetTop(); i++ {
		if i > 1 {
			out.WriteString(sep)
		}
		word := ev.textOf(L, L.Get(i))
		if out.Len()+len(word) > maxString {
			ev.limits.tooLong(L, function)
		}
		out.WriteString(word)
	}
	ev.limits.take(L, out.Len())
	return out.String()
}

// AbsentHint returns the hint for a global of Lua that scripts do not have, or "".
func AbsentHint(name string) string { return absentGlobals[name] }
