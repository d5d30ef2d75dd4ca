package site

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/luatype"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/stdlib"
)

// Extend returns what scripts have besides the language itself: the standard
// library, and types of their own.
func Extend(lib std.Options) func(*luaapi.Interp) {
	return func(in *luaapi.Interp) {
		lib.Extend(in)
		luatype.Extend(in)
	}
}

// findShipped adds a type that ships with ccm as a Lua module to a registry, if
// there is one of that name. Manifests and command lines name such types without
// naming the module. Its functions see the facts of the environment.
func (e *TemplateEnv) findShipped(reg *resource.Registry, name string) {
	module := "std/" + name + ".lua"
	if _, err := fs.Stat(stdlib.Library, module); err != nil {
		return
	}
	in := newModuleInterp(reg, luaapi.Options{ReadFile: onlyShipped, Facts: e.Facts})
	defer in.Close()
	// That every module loads is for the tests to see.
	_ = in.Require(context.Background(), "", "std."+name)
}

// onlyShipped reads no file: what the directory holds in which somebody happens to
// be does not take the place of a type that ships with ccm.
func onlyShipped(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// newModuleInterp returns what loads modules outside of a run.
func newModuleInterp(reg *resource.Registry, o luaapi.Options) *luaapi.Interp {
	o.Registry, o.Builder, o.Library, o.Env = reg, new(catalog.Builder), stdlib.Library, os.LookupEnv
	o.Extend = Extend(std.Options{View: &host.New(host.Options{}).View})
	return luaapi.New(o)
}

// RequireModule adds the types of a module to reg, which is found as a script in the
// working directory would find it, and returns its functions.
func (p *Process) RequireModule(ctx context.Context, reg *resource.Registry, name string) ([]ModuleFunction, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	in := newModuleInterp(reg, luaapi.Options{
		ReadFile: p.Files.readModule(""), Path: p.Modules, Version: p.Version, Packages: p.newPackages(here, ""),
	})
	defer in.Close()
	p.Messages.Sources = in.Sources()
	functions, err := in.RequireFunctions(ctx, "", name)
	var list []ModuleFunction
	for field, f := range functions {
		list = append(list, ModuleFunction{Module: name, Name: name + "." + field, Parameters: f.Parameters, Doc: f.Comment})
	}
	slices.SortFunc(list, func(a, b ModuleFunction) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// AddShipped adds the types to reg that ship with ccm as Lua modules: those that
// are named or, if none is, all.
func AddShipped(reg *resource.Registry, names ...string) {
	files, _ := fs.Glob(stdlib.Library, "std/*.lua")
	for _, file := range files {
		if name := strings.TrimSuffix(path.Base(file), ".lua"); len(names) == 0 || slices.Contains(names, name) {
			reg.Type(name)
		}
	}
}
