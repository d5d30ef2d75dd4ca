package luaapi

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Package is a module of others, at a fixed version. Its code sees a table of its own instead
// of the globals of scripts. Forbidden globals are not in that table, and its require and load
// give no access to them. A function that a script passes to the package works: that is the
// decision of the script.
type Package struct {
	// Name is the name of the module in messages.
	Name string
	// Dir is its directory.
	Dir string
	// Denial returns the reason why the code of the module must not use a global, or nil.
	Denial func(global string) error

	globals *lua.LTable // as its code sees them, once that is loaded
}

// A PackageFile is a file of a package that require found.
type PackageFile struct {
	Owner *Package
	// Path is its path below the directory of the package, with slashes.
	Path string
	// Key is its name in package.loaded, which no file of a script can have.
	Key string
	// File is its path, ShownPath its path in messages, and Dir the directory of relative paths in
	// it.
	File, ShownPath, Dir string
}

// Packages finds modules for require. From is the package of the calling code, nil for scripts of
// the site. Find returns nil if the name belongs to no package: then package.path is searched. An
// error ends the evaluation: no pcall stops it.
type Packages interface {
	Find(from *Package, name string) (*PackageFile, error)
	// Read returns the content of a file that Find returned.
	Read(file *PackageFile) ([]byte, error)
}

// requirePackage is require for the code of from, nil for scripts. It is false if the name
// belongs to no package.
func (ml *moduleLoader) requirePackage(L *lua.LState, from *Package, name string) bool {
	if ml.opts.Packages == nil {
		return false
	}
	found, err := ml.opts.Packages.Find(from, name)
	if err != nil {
		ml.report.throwFatal(L, err)
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
	text, err := ml.opts.Packages.Read(found)
	if err != nil {
		ml.report.throwFatal(L, fmt.Errorf("module '%s': %w", name, err))
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
		if name == "std" {
			L.Push(L.GetField(from.globals, name))
			return 1
		}
		if global, ok := strings.CutPrefix(name, stdPrefix); ok || name == "ccm" {
			if err := from.Denial(global); err != nil {
				ml.report.throwError(L, err)
			}
			// A shipped module is loaded once for all callers, with the rights of ccm.
			L.Push(ml.vm.NewFunction(ml.require))
			L.Push(lua.LString(name))
			L.Call(1, 1)
			return 1
		}
		ml.report.throw(L, "a module can require its own files and the exports of its dependencies", "module '%s' not found in %s", name, from.Name)
		return 0
	}
}

// Granted returns nil if the calling code may use a global, and otherwise the reason. Once there
// are packages, a function that no script has called may not.
func (in *Interp) Granted(L *lua.LState, global string) error {
	if in.modules.packages == 0 {
		return nil
	}
	c := in.source.chunkOf(caller(L).node)
	switch {
	case c == nil:
		return fmt.Errorf("%s is available only in functions called by a script", global)
	case c.owner == nil:
		return nil
	}
	return c.owner.Denial(global)
}

// plainTables are the tables of Lua that scripts can write. Each package has a copy, so that
// others do not see its changes.
var plainTables = []string{"string", "table", "math", "os", "coroutine", "debug"}

// packageGlobals returns the globals for the code of a package. Each is copied into the table on
// first use, and is then as fast as for scripts: most packages use few. _G is the table with all
// of them.
func (ml *moduleLoader) packageGlobals(p *Package) *lua.LTable {
	if p.globals != nil {
		return p.globals
	}
	L := ml.vm
	real := L.Env
	t := L.CreateTable(0, 0)
	take := func(name string) lua.LValue {
		v := ml.packageGlobal(p, name)
		if v == nil {
			v = L.GetField(real, name) // which makes it if this is its first use
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
			ml.report.throwError(L, err)
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

// packageGlobal returns a global that differs for packages, nil if it is the same as for scripts.
func (ml *moduleLoader) packageGlobal(p *Package, name string) lua.LValue {
	L := ml.vm
	switch name {
	case "require":
		return L.NewFunction(ml.requireIn(p))
	case "load", "loadstring":
		return L.NewFunction(func(L *lua.LState) int { return (&baseLib{ev: ml.evaluator, modules: ml}).loadIn(L, p) })
	case "getmetatable":
		return L.NewFunction(getMetatable)
	case "package":
		return ml.packageTableCopy()
	case "std":
		return ml.stdTable(L.NewFunction(ml.requireIn(p)))
	}
	return nil
}

// packageTableCopy returns the table package for packages: the constructor of its type, without the
// tables by which require finds and keeps modules.
func (ml *moduleLoader) packageTableCopy() *lua.LTable {
	real := ml.packageTable()
	t := ml.vm.CreateTable(0, 4)
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

// realMetatable is debug.getmetatable, which has no regard for __metatable. Metatables of ccm have false there, and stay
// hidden.
func realMetatable(L *lua.LState) int {
	v := L.CheckAny(1)
	if L.GetMetaField(v, "__metatable") == lua.LFalse {
		return getMetatable(L)
	}
	switch v := v.(type) {
	case *lua.LTable:
		L.Push(v.Metatable)
	case *lua.LUserData:
		L.Push(v.Metatable)
	default:
		return getMetatable(L)
	}
	return 1
}

// getMetatable is getmetatable for packages: the metatable of strings would lead to the functions that scripts call.
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

// throwFatal throws a mistake that no pcall stops. A mistake with a file of its own is shown
// there, with the place of the calling script.
func (rp *mistakeCollector) throwFatal(L *lua.LState, err error) {
	f, notes := rp.source.origin(L)
	here := rp.source.framePos(f)
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

// enter notes that a module is being loaded. If it is being loaded already, it throws a mistake
// with the chain.
func (ml *moduleLoader) enter(L *lua.LState, name string) {
	if i := slices.Index(ml.loading, name); i >= 0 {
		chain := append(slices.Clone(ml.loading[i:]), name)
		ml.report.throw(L, "", "import cycle: %s", strings.Join(chain, " -> "))
	}
	ml.loading = append(ml.loading, name)
}

func (ml *moduleLoader) leave() { ml.loading = ml.loading[:len(ml.loading)-1] }
