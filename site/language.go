package site

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/luaapi/stubs"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/stdlib"
)

// LanguageOf returns the language of scripts with the types of a registry and of all modules of the standard library. To
// evaluate these takes ten times as long as all else that lint does to a short script.
func LanguageOf(reg *resource.Registry) (*stubs.Language, error) {
	layer := reg.Layer()
	in := newModuleInterp(layer, luaapi.Options{})
	defer in.Close()
	lang := &stubs.Language{Registry: reg, Libraries: std.Libraries(), Globals: in.Globals(), FactsPage: docs.Facts()}
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		// A library module that returns a type has the name of the type.
		name := strings.TrimSuffix(path.Base(file), ".lua")
		if err := in.Run(context.Background(), "types", "local _ = require \"std."+name+"\""); err != nil {
			return nil, err
		}
		if t := layer.Type(name); t != nil {
			lang.Modules = append(lang.Modules, stubs.Module{Name: "std." + name, Type: t})
		}
	}
	in.ForgetPlaces()
	return lang, nil
}

// Globals returns the globals of scripts with the types of a registry.
func Globals(reg *resource.Registry) []luaapi.Global {
	in := newModuleInterp(reg.Layer(), luaapi.Options{})
	defer in.Close()
	return in.Globals()
}

// ModuleType returns the type that a module of the standard library returns, such as std.line. It is nil if the
// library has no such module, or if the module returns something else.
func ModuleType(reg *resource.Registry, module string) *resource.Type {
	name, isStd := strings.CutPrefix(module, "std.")
	if _, err := fs.Stat(stdlib.Library, "std/"+name+".lua"); !isStd || err != nil {
		return nil
	}
	return reg.Type(name) // which evaluates the module
}
