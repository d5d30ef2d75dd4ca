package luaapi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// templates are the places of a module in a directory, in the order of the search.
var templates = []string{"lib/?.lua", "lib/?/init.lua", "?.lua", "?/init.lua"}

// vendorTemplates are searched beside the script, after templates: the directory vendor,
// which may be a tree of luarocks.
var vendorTemplates = []string{"vendor/?.lua", "vendor/?/init.lua", "vendor/share/lua/5.1/?.lua", "vendor/share/lua/5.1/?/init.lua"}

// libraryDir is the directory of the modules that ship with ccm, in messages.
const libraryDir = "stdlib"

// InLibrary reports whether a place is in a module that ships with ccm.
func InLibrary(p diag.Pos) bool { return strings.HasPrefix(p.File, libraryDir+"/") }

// A moduleLoader loads texts and modules, each with the globals that its code sees. It has the functions require and the
// table package.
type moduleLoader struct {
	*evaluator
	declarer *declarer
	packages int    // files of packages that were loaded
	vendor   string // the directory of others' modules beside the script, with a slash at its end
	// environments are the metatables of environments, by the globals that they lead to.
	environments map[*lua.LTable]*lua.LTable
	vendored     *lua.LTable // the globals of the modules in vendor, once there are any
	dumped       []dumpedFunction
	noCallSites  bool // no declaration is a call site; for tests
}

// openPackage makes the table package. It is that of Lua without the
// loaders of C libraries.
func (ml *moduleLoader) openPackage(globals *lua.LTable) {
	p := ml.vm.CreateTable(0, 8)
	loaded := ml.vm.CreateTable(0, 16)
	for k, v := globals.Next(lua.LNil); k != lua.LNil; k, v = globals.Next(k) {
		if t, ok := v.(*lua.LTable); ok {
			loaded.RawSet(k, t)
		}
	}
	loaded.RawSetString("package", p)
	p.RawSetString("config", lua.LString("/\n;\n?\n!\n-\n"))
	p.RawSetString("cpath", lua.LString(""))
	p.RawSetString("loaded", loaded)
	p.RawSetString("path", lua.LString(""))
	p.RawSetString("preload", ml.vm.CreateTable(0, 0))
	loaders := ml.vm.CreateTable(3, 0)
	for i, fn := range []lua.LGFunction{ml.preloader, ml.pathLoader, ml.libraryLoader} {
		loaders.RawSetInt(i+1, ml.vm.NewFunction(fn))
	}
	p.RawSetString("loaders", loaders)
	p.RawSetString("searchpath", ml.vm.NewFunction(ml.searchPath))
	globals.RawSetString("package", p)
}

// setPath sets package.path to the directory of the script, its vendor directory,
// and the directories that the user named.
func (ml *moduleLoader) setPath(script string) {
	var list []string
	for i, dir := range append([]string{filepath.Dir(script)}, ml.opts.Path...) {
		here := templates
		if i == 0 {
			here = slices.Concat(templates, vendorTemplates)
		}
		for _, t := range here {
			list = append(list, strings.TrimSuffix(filepath.ToSlash(dir), "/")+"/"+t)
		}
	}
	ml.packageTable().RawSetString("path", lua.LString(strings.Join(list, ";")))
	ml.vendor = filepath.Join(filepath.Dir(script), "vendor") + string(filepath.Separator)
}

// isVendored reports whether a file is a module of others beside the script.
func (ml *moduleLoader) isVendored(file string) bool {
	return ml.vendor != "" && strings.HasPrefix(filepath.Clean(file), ml.vendor)
}

func (ml *moduleLoader) packageTable() *lua.LTable { return global(ml.vm, "package").(*lua.LTable) }

// packageField returns a field of package that must be a table.
func (ml *moduleLoader) packageField(L *lua.LState, name string) *lua.LTable {
	t, ok := ml.packageTable().RawGetString(name).(*lua.LTable)
	if !ok {
		ml.report.throw(L, "", "package.%s must be a table", name)
	}
	return t
}

// require is Lua's, but modules that require one another are an error with the chain.
func (ml *moduleLoader) require(L *lua.LState) int {
	name := L.CheckString(1)
	loaded := ml.packageField(L, "loaded")
	if v := loaded.RawGetString(name); lua.LVAsBool(v) {
		L.Push(v)
		return 1
	}
	if ml.requirePackage(L, nil, name) {
		return 1
	}
	ml.enter(L, name)
	defer ml.leave()
	loader := ml.loader(L, name)
	L.Push(loader)
	L.Push(lua.LString(name))
	L.Call(1, 1)
	v := L.Get(-1)
	if v == lua.LNil {
		// A module without a result may have put itself into package.loaded.
		if v = loaded.RawGetString(name); v == lua.LNil {
			v = lua.LTrue
		}
	}
	loaded.RawSetString(name, v)
	L.Push(v)
	return 1
}

// loader asks each of package.loaders for a function that loads the module.
func (ml *moduleLoader) loader(L *lua.LState, name string) lua.LValue {
	loaders := ml.packageField(L, "loaders")
	var tried strings.Builder
	for i := 1; loaders.RawGetInt(i) != lua.LNil; i++ {
		L.Push(loaders.RawGetInt(i))
		L.Push(lua.LString(name))
		L.Call(1, 1)
		v := L.Get(-1)
		L.Pop(1)
		switch v := v.(type) {
		case *lua.LFunction:
			return v
		case lua.LString:
			tried.WriteString(string(v))
		}
	}
	ml.report.throw(L, ml.nearModule(name), "module '%s' not found:%s", name, tried.String())
	return nil
}

func (ml *moduleLoader) preloader(L *lua.LState) int {
	name := L.CheckString(1)
	if v := ml.packageField(L, "preload").RawGetString(name); v != lua.LNil {
		L.Push(v)
		return 1
	}
	L.Push(lua.LString(fmt.Sprintf("\n\tno field package.preload['%s']", name)))
	return 1
}

// candidates returns the files that a module can be in. Paths are templates as in package.path.
func candidates(name, paths string) []string {
	var out []string
	for template := range strings.SplitSeq(paths, ";") {
		if template != "" {
			out = append(out, strings.ReplaceAll(template, "?", strings.ReplaceAll(name, ".", "/")))
		}
	}
	return out
}

func (ml *moduleLoader) pathLoader(L *lua.LState) int {
	name := L.CheckString(1)
	paths, ok := ml.packageTable().RawGetString("path").(lua.LString)
	if !ok {
		ml.report.throw(L, "", "package.path must be a string")
	}
	var tried strings.Builder
	for _, file := range candidates(name, string(paths)) {
		text, err := ml.opts.ReadFile(file)
		if err == nil {
			dir, err := filepath.Abs(filepath.Dir(file))
			if err != nil {
				ml.report.throwError(L, err)
			}
			return ml.pushModule(L, filepath.Clean(file), dir, string(text))
		}
		if !isMissing(err) {
			ml.report.throw(L, "", "module '%s': %w", name, err)
		}
		fmt.Fprintf(&tried, "\n\tno file '%s'", file)
	}
	L.Push(lua.LString(tried.String()))
	return 1
}

// isMissing reports whether err means that there is no such module file: the path is missing, or
// a directory.
func isMissing(err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	p, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return false
	}
	info, statErr := os.Stat(p.Path)
	return statErr != nil && !errors.Is(statErr, fs.ErrPermission) || statErr == nil && info.IsDir()
}

func (ml *moduleLoader) libraryLoader(L *lua.LState) int {
	name := L.CheckString(1)
	if ml.opts.Library == nil {
		L.Push(lua.LString(""))
		return 1
	}
	if name == "std" { // unless the site has a module of that name
		L.Push(L.NewFunction(func(L *lua.LState) int {
			L.Push(L.GetField(ml.vm.Env, "std"))
			return 1
		}))
		return 1
	}
	var tried strings.Builder
	for _, file := range candidates(name, "?.lua;?/init.lua") {
		text, err := fs.ReadFile(ml.opts.Library, path.Clean(file))
		if err == nil {
			// Declarations of a shipped module have no directory of their own.
			return ml.pushModule(L, path.Join(libraryDir, file), "", string(text))
		}
		fmt.Fprintf(&tried, "\n\tno file '%s'", path.Join(libraryDir, file))
	}
	L.Push(lua.LString(tried.String()))
	return 1
}

// pushModule pushes the function of a module of the site.
func (ml *moduleLoader) pushModule(L *lua.LState, file, dir, text string) int {
	return ml.pushText(L, nil, file, dir, text)
}

// pushText pushes the function of a module; of is its package, or nil.
func (ml *moduleLoader) pushText(L *lua.LState, of *Package, file, dir, text string) int {
	fn, _, err := ml.loadOf(of, file, dir, text, false)
	if err != nil {
		e, ok := errors.AsType[*diag.Error](err)
		if !ok {
			ml.report.throwError(L, err)
		}
		e.Notes = ml.source.notes(append([]frame{{}}, trace(L)...))
		ml.report.raise(L, e)
	}
	L.Push(fn)
	return 1
}

// searchPath is package.searchpath: the file of a module, or nil and the places
// that were tried.
func (ml *moduleLoader) searchPath(L *lua.LState) int {
	var tried strings.Builder
	for _, file := range candidates(L.CheckString(1), L.CheckString(2)) {
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			L.Push(lua.LString(file))
			return 1
		}
		fmt.Fprintf(&tried, "\n\tno file '%s'", file)
	}
	L.Push(lua.LNil)
	L.Push(lua.LString(tried.String()))
	return 2
}

// nearModule returns a hint with the module of the nearest name, or with the place for a new one.
func (ml *moduleLoader) nearModule(name string) string {
	paths, _ := ml.packageTable().RawGetString("path").(lua.LString)
	prefix, last := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		prefix, last = name[:i+1], name[i+1:]
	}
	var known []string
	for template := range strings.SplitSeq(string(paths), ";") {
		dir, pattern, ok := strings.Cut(template, "?")
		if !ok || pattern != ".lua" {
			continue
		}
		dir += strings.ReplaceAll(prefix, ".", "/")
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if base, isLua := strings.CutSuffix(e.Name(), ".lua"); isLua && !e.IsDir() {
				known = append(known, base)
			} else if e.IsDir() {
				if _, err := os.Stat(filepath.Join(dir, e.Name(), "init.lua")); err == nil {
					known = append(known, e.Name())
				}
			}
		}
	}
	if near := diag.Nearest(last, known); near != "" {
		return fmt.Sprintf("did you mean %q?", prefix+near)
	}
	if prefix == stdPrefix { // the shipped modules, to which nobody adds
		return ""
	}
	return fmt.Sprintf("put a module of the site into lib/%s.lua beside the script; add a third-party module with ccm mod get ADDRESS", strings.ReplaceAll(name, ".", "/"))
}
