// Package stubs writes what editors and linters need to know of scripts: the
// definition file of the Lua language server, and the configuration of selene
// and luacheck. All of it comes from the declarations that decode scripts.
//
// Begin with [Language].
package stubs

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"

	_ "embed" // for base.lua
)

// A Language lists the names that scripts can use: functions, types, facts, modules.
type Language struct {
	// Registry has the types; their documentation is filled in.
	Registry *resource.Registry
	// Libraries are the standard library.
	Libraries []*std.Library
	// Globals are the globals of scripts.
	Globals []luaapi.Global
	// Modules are the modules that return the constructor of a type.
	Modules []Module
	// FactsPage is docs/facts.md, whose tables say which facts there are.
	FactsPage string
	// Facts are further facts, such as those of this machine; may be nil.
	Facts map[string]any

	tree *factNode // of FactsPage, nil until the page is read
}

// A Module is a module that returns the constructor of a type.
type Module struct {
	Name string // the name for require: std.line
	Type *resource.Type
}

// WriteModule writes the definition file of a module.
func WriteModule(w io.Writer, m Module) {
	fmt.Fprintf(w, "---@meta %s\n\n-- Written by ccm types. Changes are lost.\n\n", m.Name)
	writeType(w, m.Type, "local ")
	fmt.Fprintf(w, "return %s\n", m.Type.Name)
}

// base has the definitions of what is neither a type nor a library.
//
//go:embed base.lua
var base string

// Definitions writes the definition file of the Lua language server.
func (l *Language) Definitions(w io.Writer) {
	fmt.Fprint(w, "---@meta ccm\n\n-- Written by ccm types from the declarations of the types. Changes are lost.\n\n")
	fmt.Fprintln(w, base)
	l.facts(w)
	schema.LuaClass{Name: "ccm.Common", Doc: resource.CommonSchema().Doc, Schema: resource.CommonSchema()}.Write(w)
	for _, t := range l.Registry.Types() {
		writeType(w, t, "")
	}
	for _, lib := range l.Libraries {
		writeLibrary(w, lib)
	}
	l.std(w)
}

// std writes the table of the shipped modules.
func (l *Language) std(w io.Writer) {
	fmt.Fprint(w, "---The modules that ship with ccm: std.line is what require \"std.line\" returns, loaded on first use.\n---@class ccm.lib.std\n")
	for _, m := range l.Modules {
		doc, _, _ := strings.Cut(m.Type.Schema().Doc, "\n")
		fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("---@field %s %s.Constructor %s", m.Type.Name, className(m.Type.Name), doc)))
	}
	for _, lib := range l.Libraries {
		if lib.Name != "ccm" && (len(lib.Values) > 0 || len(lib.Funcs) > 1) {
			fmt.Fprintf(w, "---@field %s ccm.lib.%[1]s\n", lib.Name)
		}
	}
	fmt.Fprint(w, "std = {}\n\n")
}

// className returns the class of a type: apt_repo is AptRepo.
func className(typ string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(typ, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return "ccm." + b.String()
}

// luaTables are the tables of Lua whose name a type may share. The constructor of such a type is
// the table with its fields, which can be called besides.
var luaTables = []string{"string", "table", "math", "os", "package", "coroutine", "debug"}

// writeType writes the classes of a type and its constructor, which can be called in four ways.
// Local is a prefix of the constructor's declaration.
func writeType(w io.Writer, t *resource.Type, local string) {
	class, s := className(t.Name), t.Schema()
	named := func(f *schema.Field) bool { return f.IsName }
	own := func(f *schema.Field) bool { return !f.IsName }
	schema.LuaClass{Name: class + ".Props", Doc: "The properties of " + article(t.Name) + ".", Extends: "ccm.Common", Schema: s, Pick: own}.Write(w)
	schema.LuaClass{Name: class + ".Table", Doc: "The properties of " + article(t.Name) + " and its name, or several names.", Extends: class + ".Props",
		Schema: s, Pick: named, Positions: "string", Partial: true}.Write(w)
	defaults := class + ".Props"
	if slices.ContainsFunc(s.Fields, func(f schema.Field) bool { return f.Required && !f.IsName }) {
		defaults = class + ".Defaults"
		schema.LuaClass{Name: defaults, Doc: "What declarations of " + article(t.Name) + " may leave out.", Extends: "ccm.Common", Schema: s, Pick: own, Partial: true}.Write(w)
	}
	fmt.Fprintf(w, "---The handle of %s, whose properties may follow in a second call.\n---@class %s.Handle: ccm.Handle\n---@overload fun(properties: %s.Props): ccm.Handle\n\n",
		article(t.Name), class, class)
	constructor := class + ".Constructor"
	if slices.Contains(luaTables, t.Name) {
		constructor = t.Name + "lib"
	}
	schema.WriteLuaDoc(w, s.Doc)
	fmt.Fprintf(w, "---\n---```lua\n---%s { %q, ... }\n---%s %q { ... }\n---%s(%q, { ... })\n---```\n",
		t.Name, example(t), t.Name, example(t), t.Name, example(t))
	fmt.Fprintf(w, "---@class %s\n", constructor)
	fmt.Fprintf(w, "---@overload fun(resource: %s.Table): ccm.Handle\n", class)
	fmt.Fprintf(w, "---@overload fun(name: string|string[]): %s.Handle\n", class)
	fmt.Fprintf(w, "---@overload fun(name: string|string[], properties: %s.Props): ccm.Handle\n", class)
	fmt.Fprintf(w, "---@field defaults fun(properties: %s) Sets what the following declarations in this file may leave out.\n", defaults)
	fmt.Fprintf(w, "%s%s = {}\n\n", local, t.Name)
}

func example(t *resource.Type) string {
	if e := t.Schema().Name().Example; e != "" {
		return e
	}
	return "name"
}

// article returns a noun with its indefinite article.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
