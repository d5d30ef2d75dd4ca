package luatype

import (
	"fmt"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// lookHost returns the table host for status.
func (lib *library) lookHost(L *lua.LState) *lua.LTable {
	if lib.looks == nil {
		lib.looks = lib.hostTable(L, looks)
	}
	return lib.looks
}

// actHost returns the table host for perform.
func (lib *library) actHost(L *lua.LState) *lua.LTable {
	if lib.acts == nil {
		lib.acts = lib.hostTable(L, looks, actCalls())
	}
	return lib.acts
}

// slowFunctions are the functions of host whose work grows with the machine: their time does not
// count against the limit of the type. The timeout of the resource and an interrupt end them.
// Functions that run commands call [luaapi.Interp.Outside] themselves.
var slowFunctions = map[string]bool{
	"tree": true, "compare": true, "undeclared": true, "kept_data": true,
	"write": true, "copy": true, "copy_tree": true, "mkdir": true, "symlink": true, "chmod": true, "chown": true, "remove": true,
}

// hostTable makes the table host of some functions.
func (lib *library) hostTable(L *lua.LState, sets ...map[string]func(*call) int) *lua.LTable {
	contents := L.CreateTable(0, len(looks)+len(acts))
	var names []string
	for _, set := range sets {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			fn := set[name]
			names = append(names, name)
			contents.RawSetString(name, L.NewFunction(func(L *lua.LState) (results int) {
				c := lib.call(L, name)
				if !slowFunctions[name] {
					return fn(c)
				}
				lib.in.Outside(func() { results = fn(c) })
				return results
			}))
		}
	}
	values := map[string]func(v *host.View) lua.LValue{
		"root": func(v *host.View) lua.LValue { return lua.LString(v.Root()) },
		"live": func(v *host.View) lua.LValue { return lua.LBool(v.ActsBelowRoot() && v.Offline() == "") },
	}
	return lib.in.Tables.Tree("host", contents, func(key string) (lua.LValue, error) {
		if value, ok := values[key]; ok {
			if lib.access == nil || lib.access.view == nil {
				return lua.LNil, nil
			}
			return value(lib.access.view), nil
		}
		if _, act := acts[key]; act {
			return lua.LNil, diag.SubjectCannot("status", "change the machine: call host.%s in perform", key)
		}
		return lua.LNil, &missingFunctionError{key, names}
	}, func() *lua.LTable { return contents })
}

// A missingFunctionError says that host has no function of that name.
type missingFunctionError struct {
	name string
	keys []string
}

// Error names the missing function.
func (e *missingFunctionError) Error() string { return fmt.Sprintf("unknown function host.%s", e.name) }

// Hint returns the nearest name, or "".
func (e *missingFunctionError) Hint() string { return diag.DidYouMean(e.name, e.keys) }

// A call is one call of a function of host.
type call struct {
	*library
	L    *lua.LState
	name string
	view *host.View
}

// call begins a call. Functions of host work only while a function of the type runs that got the
// table.
func (lib *library) call(L *lua.LState, name string) *call {
	c := &call{library: lib, L: L, name: "host." + name}
	if lib.access == nil || lib.access.view == nil {
		c.fail("can be called only in status or perform")
	}
	c.view = lib.access.view
	if _, act := acts[name]; act && lib.access.host == nil {
		c.fail("%s is read-only", lib.access.function)
	}
	if L.Get(1) == lua.LValue(lib.looks) || L.Get(1) == lua.LValue(lib.acts) {
		lib.in.Throw(L, fmt.Sprintf("use %s(...)", c.name), "%s called with a colon", c.name)
	}
	return c
}

// fail throws a mistake at the place of the script.
func (c *call) fail(format string, args ...any) {
	c.in.Throw(c.L, "", c.name+": "+format, args...)
}

// A machineError is an error of the machine from a call of host.
type machineError struct {
	name string // of the call
	err  error
}

// Error names the call.
func (e *machineError) Error() string { return e.name + ": " + e.err.Error() }

// Unwrap returns the error of the machine.
func (e *machineError) Unwrap() error { return e.err }

// must throws an error of the machine, with its hint, unless err is nil.
func (c *call) must(err error) {
	if err != nil {
		c.in.Throw(c.L, "", "%w", &machineError{c.name, err})
	}
}

// valid throws an error about an argument, unless err is nil.
func (c *call) valid(err error) {
	if err != nil {
		c.fail("%w", err)
	}
}

// str returns argument n, a string.
func (c *call) str(n int, what string) string {
	s, ok := c.L.Get(n).(lua.LString)
	if !ok {
		c.fail("%w", diag.Expected("%s as argument %d", what, n).Got("%s", describe(c.L.Get(n))))
	}
	return string(s)
}

// path returns argument n, an absolute path.
func (c *call) path(n int) string {
	var p Path
	c.valid(p.UnmarshalText([]byte(c.str(n, "a path"))))
	return string(p)
}

// options returns argument n, a table with some of the names, or an empty one.
func (c *call) options(n int, names ...string) *lua.LTable {
	v := c.L.Get(n)
	if v == lua.LNil {
		return &lua.LTable{Metatable: lua.LNil}
	}
	t, ok := v.(*lua.LTable)
	if !ok {
		c.fail("%w", diag.Expected("a table of options as argument %d", n).Got("%s", describe(v)))
	}
	c.known(t, names)
	return t
}

// known throws a mistake for a name in t that is none of names.
func (c *call) known(t *lua.LTable, names []string) {
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if name, ok := k.(lua.LString); ok && !slices.Contains(names, string(name)) {
			c.in.Throw(c.L, "", "%s: %w", c.name, diag.Unknown("option", string(name), names))
		}
	}
}

func (c *call) give(values ...lua.LValue) int {
	for _, v := range values {
		c.L.Push(v)
	}
	return len(values)
}

func (c *call) giveStrings(list []string) int { return c.give(c.stringList(list)) }

func (c *call) stringList(list []string) *lua.LTable {
	t := c.L.CreateTable(len(list), 0)
	for _, s := range list {
		t.Append(lua.LString(s))
	}
	return t
}
