// Package stdlib holds the Lua modules that ship with ccm. A script gets them
// with require "std.NAME"; each is short enough to be read as an example of what
// a site can have of its own.
//
// The functions that are global, such as str and fs, are not here but in package
// luaapi/std: they are written in Go.
package stdlib

import "embed"

// Library has the modules: std.line is std/line.lua.
//
//go:embed std/*.lua
var Library embed.FS
