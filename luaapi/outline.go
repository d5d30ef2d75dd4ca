package luaapi

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// A Global is one global of scripts.
type Global struct {
	Name string
	// Fields are its names, in order, if it is a table with known names: one of Lua, ccm, or the
	// constructor of a type.
	Fields []string
}

// Globals returns the globals of scripts in order of name: Lua's, ccm's and those of
// Options.Extend. Globals that are made on first use are not made, and their fields are missing here;
// those of std are the modules that ship with ccm.
func (in *Interp) Globals() []Global {
	names := slices.Clone(in.globals.names)
	slices.Sort(names)
	names = slices.Compact(names)
	out := make([]Global, len(names))
	for i, name := range names {
		out[i] = Global{Name: name}
		if name == "std" {
			out[i].Fields = in.modules.shippedNames()
			continue
		}
		if v, ok := global(in.vm, name).(*lua.LTable); ok {
			if name != "_G" && name != "facts" && name != "env" && name != "arg" {
				out[i].Fields = stringKeys(in.Tables.Contents(v))
			}
			if name == "ccm" {
				out[i].Fields = append(out[i].Fields, in.globals.fieldNames...)
			}
			slices.Sort(out[i].Fields)
		}
	}
	return out
}
