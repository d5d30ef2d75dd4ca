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

// Extend returns a function that adds the standard library and ccm.type to an interpreter.
func Extend(lib std.Options) func(*luaapi.Interp) {
	return func(in *luaapi.Interp) {
		lib.Extend(in)
		luatype.Extend(in)
	}
}

// findShipped adds the type of that name from a shipped Lua module to a registry, if there is
// one. Manifests and command lines use such types without naming the module. Its functions see
// the facts of the environment.
func (e *TemplateEnv) findShipped(reg *resource.Registry, name string) {
	module := "std/" + name + ".lua"
	if _, err := fs.Stat(stdlib.Library, module); err != nil {
		return
	}
	// Types share what their modules require: one interpreter for all 35 takes a quarter of the time of one for each.
	if e.shipped.in == nil || e.shipped.registry != reg || e.shipped.facts != e.Facts {
		e.shipped.in = newModuleInterp(reg, luaapi.Options{ReadFile: onlyShipped, Facts: e.Facts})
		e.shipped.registry, e.shipped.facts = reg, e.Facts
	}
	// Tests check that every shipped module loads.
	_ = e.shipped.in.Require(context.Background(), "", "std."+name)
}

// onlyShipped reads no file: a module in the working directory must not replace a shipped type.
func onlyShipped(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// newModuleInterp returns an interpreter that loads modules outside of a run.
func newModuleInterp(reg *resource.Registry, o luaapi.Options) *luaapi.Interp {
	o.Registry, o.Builder, o.Library, o.Env = reg, new(catalog.Builder), stdlib.Library, os.LookupEnv
	o.Extend = Extend(std.Options{View: &host.New(host.Options{}).View})
	return luaapi.New(o)
}

// RequireModule adds the types of a module to reg, and returns the module's functions by field. The module
// is searched for as by a script in the working directory.
func RequireModule(ctx context.Context, p *Process, reg *resource.Registry, name string) (map[string]luaapi.Function, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	in := newModuleInterp(reg, luaapi.Options{
		ReadFile: p.Files.readModule(""), Path: p.Modules, Version: p.Version, Packages: p.newPackages(here, ""),
	})
	defer in.Close()
	p.Messages.Sources = in.Sources()
	return in.RequireFunctions(ctx, "", name)
}

// AddShipped adds the types of shipped Lua modules to reg: the named ones or, without names, all.
func AddShipped(reg *resource.Registry, names ...string) {
	files, _ := fs.Glob(stdlib.Library, "std/*.lua")
	for _, file := range files {
		if name := strings.TrimSuffix(path.Base(file), ".lua"); len(names) == 0 || slices.Contains(names, name) {
			reg.Type(name)
		}
	}
}
