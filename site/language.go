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
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/stdlib"
)

// LanguageOf returns the language of scripts with the types of a registry.
func LanguageOf(reg *resource.Registry) (*stubs.Language, error) {
	lib := std.Options{View: &host.New(host.Options{}).View}
	layer := reg.Layer()
	in := luaapi.New(luaapi.Options{
		Registry: layer, Builder: new(catalog.Builder), Library: stdlib.Library,
		Extend: Extend(lib),
	})
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
