package stubs

import (
	"encoding/json"
	"slices"

	"github.com/luaccm/ccm/luaapi"
)

// TypesDir is the directory of a site's definition files.
const TypesDir = ".ccm/types"

// absentLibraries are the libraries that the language server knows and scripts do not
// have.
var absentLibraries = []string{"io", "debug", "bit", "jit", "ffi"}

// Luarc returns .luarc.json, the configuration of the Lua language server.
// Libraries are further directories with Lua files.
func Luarc(libraries ...string) []byte {
	builtin := make(map[string]string)
	for _, name := range absentLibraries {
		builtin[name] = "disable"
	}
	text, _ := json.MarshalIndent(struct {
		Schema     string            `json:"$schema"`
		Version    string            `json:"runtime.version"`
		Path       []string          `json:"runtime.path"`
		PathStrict bool              `json:"runtime.pathStrict"`
		Builtin    map[string]string `json:"runtime.builtin"`
		Library    []string          `json:"workspace.library"`
		ThirdParty bool              `json:"workspace.checkThirdParty"`
		Globals    []string          `json:"diagnostics.globals"`
	}{
		Schema:  "https://raw.githubusercontent.com/LuaLS/vscode-lua/master/setting/schema.json",
		Version: "Lua 5.1", Path: []string{"lib/?.lua", "lib/?/init.lua", "?.lua"}, PathStrict: true,
		Builtin: builtin, Library: append([]string{TypesDir}, libraries...), Globals: []string{},
	}, "", "  ") // plain data always has a JSON form
	return append(text, '\n')
}

// lua51 are the globals of Lua 5.1, which the linters know.
var lua51 = []string{
	"_G", "_VERSION", "arg", "assert", "collectgarbage", "coroutine", "debug", "dofile", "error", "gcinfo", "getfenv",
	"getmetatable", "io", "ipairs", "load", "loadfile", "loadstring", "math", "module", "newproxy", "next", "os",
	"package", "pairs", "pcall", "print", "rawequal", "rawget", "rawset", "require", "select", "setfenv",
	"setmetatable", "string", "table", "tonumber", "tostring", "type", "unpack", "xpcall",
}

// missing returns the globals of Lua 5.1 that scripts do not have.
func (l *Language) missing() []string {
	var out []string
	for _, name := range lua51 {
		if !slices.ContainsFunc(l.Globals, func(g luaapi.Global) bool { return g.Name == name }) {
			out = append(out, name)
		}
	}
	return out
}

// added returns the globals that Lua 5.1 does not have, and package, which has other fields there.
func (l *Language) added() []luaapi.Global {
	var out []luaapi.Global
	for _, g := range l.Globals {
		if !slices.Contains(lua51, g.Name) || l.Registry.Type(g.Name) != nil {
			out = append(out, g)
		}
	}
	return out
}

// fields returns the names of a global's fields, nil if they are unknown.
func (l *Language) fields(g luaapi.Global) []string {
	if g.Name == "std" {
		return nil // its fields have fields of their own
	}
	names := slices.Clone(g.Fields)
	for _, lib := range l.Libraries {
		if lib.Name != g.Name {
			continue
		}
		if lib.Name == "data" {
			return nil // the fields depend on the user's configuration
		}
		for i := range lib.Funcs {
			if f := lib.Funcs[i].Name(); f != lib.Name {
				names = append(names, f)
			}
		}
		for _, v := range lib.Values {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
