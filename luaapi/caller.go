package luaapi

import (
	"crypto/sha256"
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Caller is the script or module that called a function.
type Caller struct {
	source *sourceMap
	frame  frame
}

// Caller returns the caller of the running function.
func (in *Interp) Caller(L *lua.LState) Caller { return Caller{in.source, caller(L)} }

// Pos returns the place of the call.
func (c Caller) Pos() diag.Pos { return c.source.framePos(c.frame) }

// Dir returns the absolute directory of the caller's file. For a module that ships with ccm it is
// the directory of the script.
func (c Caller) Dir() string {
	if x := c.source.chunkOf(c.frame.node); x != nil && x.dir != "" {
		return x.dir
	}
	return c.source.siteDir()
}

// File returns the name of the caller's file, as it was found.
func (c Caller) File() string {
	if x := c.source.chunkOf(c.frame.node); x != nil {
		return x.name
	}
	return ""
}

// PackageDir returns the directory of the caller's package, "" for a script.
func (c Caller) PackageDir() string {
	if x := c.source.chunkOf(c.frame.node); x != nil && x.owner != nil {
		return x.owner.Dir
	}
	return ""
}

// Source returns a text that identifies the caller's position and the content of its file.
func (c Caller) Source() string {
	text, _ := c.source.text(c.frame.file)
	return fmt.Sprintf("%s %x", c.source.lineOf(c.frame.node, c.frame.file), sha256.Sum256([]byte(text)))
}
