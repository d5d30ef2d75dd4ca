package luaapi

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Package is a module of others, at a fixed version. Its code does not see the globals of
// scripts, but a table of its own: what it must not use is not in there, and its require and
// load lead to nothing else. A function that somebody hands to it works: to hand it over is
// the decision of whoever does.
type Package struct {
	// Name is that of the module in messages.
	Name string
	// Dir is its directory.
	Dir string
	// Denial returns why the code of the module cannot use a global, nil if it can.
	Denial func(global string) error

	globals *lua.LTable // as its code sees them, once that is loaded
}

// A PackageFile is what require finds in a package.
type PackageFile struct {
	Owner *Package
	// Path is its path below the directory of the package, with slashes.
	Path string
	// Key is its name in package.loaded, which no file of a script has.
	Key string
	// File is its path, ShownPath how messages name it, and Dir where relative paths in it begin.
	File, ShownPath, Dir string
}

// Packages finds what require means. From is the package whose code asks, nil for the scripts
// of the site. It returns nil where the name belongs to no package; then a script is asked for
// in package.path. An error ends the evaluation: no pcall stops it.
type Packages interface {
	Find(from *Package, name string) (*PackageFile, error)
	// Read returns what a file holds that Find has returned.
	Read(file *PackageFile) ([]byte, error)
}

// requirePackage is require for the code of from, nil for that of scripts. It is false if the
// name belongs to no package.
func (ml *moduleLoader) requirePackage(L *lua.LState, from *Package, name string) bool {
	if ml.in.opts.Packages == nil {
		return false
	}
	found, err := ml.in.opts.Packages.Find(from, name)
	if err != nil {
		ml.in.report.throwFatal(L, err)
	}
	if found == nil {
		return false
	}
	loaded := ml.packageField(L, "loaded")
	if v := loaded.RawGetString(found.Key); lua.LVAsBool(v) {
		L.Push(v)
		return true
	}
	ml.enter(L, found.Key)
	defer ml.leave()
	text, err := ml.in.opts.Packages.Read(found)
	if err != nil {
		ml.in.report.throwFatal(L, fmt.Errorf("module '%s': %w", name, err))
	}
	ml.packages++
	ml.pushText(L, found.Owner, found.ShownPath, found.Dir, string(text))
	L.Push(lua.LString(name))
	L.Call(1, 1)
	v := L.Get(-1)
	if v == lua.LNil {
		v = lua.LTrue
	}
	loaded.RawSetString(found.Key, v)
	L.Push(v)
	return true
}

// requireIn is require for the code of a package.
func (ml *moduleLoader) requireIn(from *Package) lua.LGFunction {
	return func(L *lua.LState) int {
		name := L.CheckString(1)
		if ml.requirePackage(L, from, name) {
			return 1
		}
		if global, ok := strings.CutPrefix(name, "std."); ok || name == "ccm" {
			if err := from.Denial(global); err != nil {
				ml.in.report.throwError(L, err)
			}
			// What ships with ccm is loaded once for all, with the rights of ccm.
			L.Push(ml.in.vm.NewFunction(ml.require))
			L.Push(lua.LString(name))
			L.Call(1, 1)
			return 1
		}
		ml.in.report.throw(L, "a module finds its own files, and what its dependencies export", "module '%s' not found in %s", name, from.Name)
		return 0
	}
}

// Granted returns nil if the code that called may use a global, or the error that says why
// it may not. A function that nobody in a script has called may not, once there are packages.
func (in *Interp) Granted(L *lua.LState, global string) error {
	if in.modules.packages == 0 {
		return nil
	}
	c := in.source.chunkOf(caller(L).node)
	switch {
	case c == nil:
		return fmt.Errorf("%s is not available to a function that no script calls", global)
	case c.owner == nil:
		return nil
	}
	return c.owner.Denial(global)
}

// plainTables are the tables of Lua that scripts can write. Each package has a copy: what it
// writes there others do not see.
var plainTables = []string{"string", "table", "math", "os", "coroutine", "debug"}

// of returns the globals as the code of a package sees them. Each comes into the table when the
// code first asks for it, and is found there as fast as those of scripts from then on: most
// packages use few of them. Who asks for _G gets the table with all that are there.
func (gt *globalTable) of(p *Package) *lua.LTable {
	if p.globals != nil {
		return p.globals
	}
	L := gt.in.vm
	real := L.Env
	t := L.CreateTable(0, 0)
	take := func(name string) lua.LValue {
		v := gt.ofPackage(p, name)
		if v == nil {
			v = L.GetField(real, name) // it may be made only now
		}
		if plain, ok := v.(*lua.LTable); ok && slices.Contains(plainTables, name) {
			v = copied(L, plain)
		}
		t.RawSetString(name, v)
		return v
	}
	mt := L.CreateTable(0, 3)
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		name := keyText(L.Get(2))
		if err := p.Denial(name); err != nil {
			gt.in.report.throwError(L, err)
		}
		if name != "_G" {
			L.Push(take(name))
			return 1
		}
		for k, _ := real.Next(lua.LNil); k != lua.LNil; k, _ = real.Next(k) {
			if other, ok := k.(lua.LString); ok && t.RawGet(k) == lua.LNil && p.Denial(string(other)) == nil {
				take(string(other))
			}
		}
		t.RawSetString("_G", t)
		L.Push(t)
		return 1
	}))
	mt.RawSetString("__newindex", real.Metatable.(*lua.LTable).RawGetString("__newindex"))
	mt.RawSetString("__metatable", lua.LFalse)
	t.Metatable = mt
	p.globals = t
	return t
}

// ofPackage returns a global that packages have of their own, nil of those that are as in scripts.
func (gt *globalTable) ofPackage(p *Package, name string) lua.LValue {
	L := gt.in.vm
	switch name {
	case "require":
		return L.NewFunction(gt.in.modules.requireIn(p))
	case "load", "loadstring":
		return L.NewFunction(func(L *lua.LState) int { return (&baseLib{in: gt.in}).loadIn(L, p) })
	case "getmetatable":
		return L.NewFunction(getMetatable)
	case "package":
		return gt.packageTable()
	}
	return nil
}

// packageTable returns the table package for the code of packages: the constructor of its
// type, without the tables through which require finds and keeps modules.
func (gt *globalTable) packageTable() *lua.LTable {
	real := gt.in.modules.packageTable()
	t := gt.in.vm.CreateTable(0, 4)
	for _, name := range []string{"config", "defaults"} {
		if v := real.RawGetString(name); v != lua.LNil {
			t.RawSetString(name, v)
		}
	}
	for _, name := range []string{"path", "cpath"} {
		t.RawSetString(name, lua.LString(""))
	}
	t.Metatable = real.Metatable
	return t
}

// copied returns a table with the same fields.
func copied(L *lua.LState, from *lua.LTable) *lua.LTable {
	t := L.CreateTable(0, from.Len()+32)
	for k, v := from.Next(lua.LNil); k != lua.LNil; k, v = from.Next(k) {
		t.RawSet(k, v)
	}
	t.Metatable = from.Metatable
	return t
}

// getMetatable is getmetatable for packages: that of all texts leads to the functions that
// scripts call.
func getMetatable(L *lua.LState) int {
	v := L.CheckAny(1)
	if v.Type() == lua.LTString {
		L.Push(lua.LNil)
		return 1
	}
	if protected := L.GetMetaField(v, "__metatable"); protected != lua.LNil {
		L.Push(protected)
		return 1
	}
	L.Push(L.GetMetatable(v))
	return 1
}

// throwFatal throws a mistake that no pcall stops. One that is in a file of its own is shown
// there, with the place of the script that came upon it.
func (rp *reporter) throwFatal(L *lua.LState, err error) {
	f, notes := rp.in.source.origin(L)
	here := rp.in.source.framePos(f)
	var list diag.List
	list.Add(err)
	e := *list[0]
	if e.Pos.IsZero() {
		e.Pos, e.Notes = here, notes
	} else {
		e.Notes = append([]diag.Note{{Pos: here, Text: "required here"}}, notes...)
	}
	rp.fatal = &e
	for _, more := range list[1:] {
		rp.mistakes.Add(more)
	}
	L.Error(lua.LString(e.Message()), 0)
}

// enter notes that a module is being loaded. One that is being loaded already is a mistake
// that shows the chain.
func (ml *moduleLoader) enter(L *lua.LState, name string) {
	if i := slices.Index(ml.loadStack, name); i >= 0 {
		chain := append(slices.Clone(ml.loadStack[i:]), name)
		ml.in.report.throw(L, "", "modules require one another: %s", strings.Join(chain, " -> "))
	}
	ml.loadStack = append(ml.loadStack, name)
}

func (ml *moduleLoader) leave() { ml.loadStack = ml.loadStack[:len(ml.loadStack)-1] }
