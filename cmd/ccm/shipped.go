package main

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

// extending returns what scripts have besides the language itself: the standard
// library, and types of their own.
func extending(lib std.Options) func(*luaapi.Interp) {
	return func(in *luaapi.Interp) {
		lib.Extend(in)
		luatype.Extend(in)
	}
}

// findShipped adds a type that ships with ccm as a Lua module to a registry, if
// there is one of that name. Manifests and command lines name such types without
// naming the module.
func findShipped(reg *resource.Registry, name string) {
	module := "std/" + name + ".lua"
	if _, err := fs.Stat(stdlib.Library, module); err != nil {
		return
	}
	in := moduleInterp(reg, onlyShipped, nil)
	defer in.Close()
	// That every module loads is for the tests to see.
	_ = in.Require(context.Background(), "", "std."+name)
}

// onlyShipped reads no file: what the directory holds in which somebody happens to
// be does not take the place of a type that ships with ccm.
func onlyShipped(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// moduleInterp returns what loads modules outside of a run.
func moduleInterp(reg *resource.Registry, readFile func(string) ([]byte, error), path []string) *luaapi.Interp {
	return luaapi.New(luaapi.Options{
		ReadFile: readFile, Registry: reg, Builder: new(catalog.Builder), Library: stdlib.Library, Version: readBuildInfo().Version,
		Path: path, Env: os.LookupEnv,
		Extend: extending(std.Options{View: &host.New(host.Options{}).View}),
	})
}

// requireModule adds the types of a module to reg, which is found as a script in
// the working directory would find it.
func (e *env) requireModule(ctx context.Context, reg *resource.Registry, name string) error {
	in := moduleInterp(reg, e.readModule(""), e.modules)
	defer in.Close()
	e.sources = in.Sources()
	return in.Require(ctx, "", name)
}

// allTypes returns the types of ccm and those that ship as modules, with their
// documentation.
func allTypes() []*resource.Type {
	reg, err := documented()
	if err != nil {
		return nil
	}
	addShipped(reg)
	return reg.Types()
}

// typeCompletions returns what a shell offers for the name of a type, with what
// the type is for.
func typeCompletions(wanted func(*resource.Type) bool) (out []string) {
	for _, t := range allTypes() {
		if wanted(t) {
			out = append(out, t.Name+"\t"+shortOf(t))
		}
	}
	return out
}

// shortOf says in one sentence what a type is for.
func shortOf(t *resource.Type) string {
	doc := strings.Join(strings.Fields(t.Schema().Doc), " ")
	short, _, _ := strings.Cut(strings.TrimSuffix(doc, "."), ". ")
	return strings.TrimPrefix(short, t.Schema().GoType.Name()+" ")
}

// addShipped adds the types to reg that ship with ccm as Lua modules: those that
// are named or, if none is, all.
func addShipped(reg *resource.Registry, names ...string) {
	files, _ := fs.Glob(stdlib.Library, "std/*.lua")
	for _, file := range files {
		if name := strings.TrimSuffix(path.Base(file), ".lua"); len(names) == 0 || slices.Contains(names, name) {
			reg.Type(name)
		}
	}
}
