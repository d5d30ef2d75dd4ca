// Package stdlib has the Lua modules that ship with ccm. A script loads them with require "std.NAME"; each is short
// enough to be an example for modules of a site.
//
// The global functions, such as str and fs, are written in Go, in package luaapi/std.
package stdlib

import "embed"

// Library has the modules: std.line is std/line.lua.
//
//go:embed std/*.lua
var Library embed.FS
