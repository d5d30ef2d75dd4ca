package stubs

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/schema"
)

// writeLibrary writes a library: a table of functions and values, or a function.
func writeLibrary(w io.Writer, lib *std.Library) {
	if len(lib.Funcs) == 1 && lib.Funcs[0].Name() == lib.Name && len(lib.Values) == 0 {
		writeFunction(w, lib.Name, &lib.Funcs[0])
		return
	}
	if lib.Name != "ccm" { // which base.lua has
		schema.WriteLuaDoc(w, lib.Doc)
		fmt.Fprintf(w, "---@class ccm.lib.%s\n", lib.Name)
		for i := range lib.Funcs {
			if f := &lib.Funcs[i]; f.Name() == lib.Name {
				fmt.Fprintf(w, "---@overload %s\n", funType(f))
			}
		}
		if lib.Name == "data" {
			fmt.Fprintln(w, "---@field [string] any")
		}
		fmt.Fprintf(w, "%s = {}\n\n", lib.Name)
	}
	for _, v := range lib.Values {
		schema.WriteLuaDoc(w, v.Doc)
		fmt.Fprintf(w, "---@type %s\n%s.%s = nil\n\n", v.Type, lib.Name, v.Name)
	}
	for i := range lib.Funcs {
		if f := &lib.Funcs[i]; f.Name() != lib.Name {
			writeFunction(w, lib.Name+"."+f.Name(), f)
		}
	}
}

// writeFunction writes a function with its types and its example.
func writeFunction(w io.Writer, name string, f *std.Func) {
	schema.WriteLuaDoc(w, f.Doc)
	if f.Example != "" {
		fmt.Fprint(w, "---\n---```lua\n")
		text := f.Example
		if f.Result != "" {
			text += " --> " + f.Result
		}
		schema.WriteLuaDoc(w, text)
		fmt.Fprint(w, "---```\n")
	}
	var names []string
	for _, p := range f.Params() {
		names = append(names, paramName(p.Name))
		fmt.Fprintf(w, "---@param %s%s %s\n", paramName(p.Name), mark(p.Optional), p.Type)
	}
	for _, p := range f.Results() {
		fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("---@return %s%s %s", p.Type, mark(p.Optional), p.Name)))
	}
	fmt.Fprintf(w, "function %s(%s) end\n\n", name, strings.Join(names, ", "))
}

// funType returns the type of a function.
func funType(f *std.Func) string {
	var params, results []string
	for _, p := range f.Params() {
		params = append(params, paramName(p.Name)+mark(p.Optional)+": "+p.Type)
	}
	for _, p := range f.Results() {
		results = append(results, p.Type+mark(p.Optional))
	}
	text := "fun(" + strings.Join(params, ", ") + ")"
	if len(results) > 0 {
		text += ": " + strings.Join(results, ", ")
	}
	return text
}

// paramName returns the name of a parameter that is no word of Lua.
func paramName(name string) string {
	if slices.Contains(syntax.Keywords, name) {
		return name + "_"
	}
	return name
}

func mark(optional bool) string {
	if optional {
		return "?"
	}
	return ""
}
