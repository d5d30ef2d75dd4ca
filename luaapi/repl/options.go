package repl

import (
	"context"
	"io"
	"time"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Options are what a dialog works with.
type Options struct {
	// Script is what scripts get to see. Its Builder is the scratch catalog. Its
	// Registry and Facts are left out.
	Script luaapi.Options
	// Begin returns the types that there are before anything was typed, to which
	// others can be added, and the facts of the machine as they are now. Reset asks
	// again.
	Begin func() (*resource.Registry, *facts.Facts, error)
	// Dir is what relative paths start from.
	Dir string
	// Out takes the answers.
	Out io.Writer
	// Commands are added to those that every dialog has.
	Commands []Command
	// Functions are added to those that scripts have.
	Functions []Function
	// Output is how values are written at first: lua, json or yaml.
	Output string
	// Drawings are the forms in which .graph draws a catalog besides text.
	Drawings []Drawing
	// LoadOther loads a file that is no script. Nil if all files are.
	LoadOther func(ctx context.Context, name string, text []byte) (handled bool, err error)
	// Sources finds texts that were not evaluated here, such as manifests; may be
	// nil.
	Sources diag.Sources
	// Paint colours Lua. Nil leaves it as it is.
	Paint func(text string) terminal.Text
	// Document fills in the documentation of the schemas. It is called once, when
	// it is needed.
	Document func() error
	// Types returns all types that there can be, those of modules that nothing has
	// required yet among them. May be nil.
	Types func() []*resource.Type
	// Reference returns the reference of a type or of one of its properties, which
	// is called file.mode.
	Reference func(topic string) (text string, ok bool)
	// ListDir lists a directory for completion; directories end with a slash.
	ListDir func(dir string) []string
	// Modules returns what require finds in modules of others. May be nil.
	Modules func() []string
	// Brief says that a person reads the answers: long values are cut, and the rest is
	// counted.
	Brief func() bool
	// Page shows a text in a pager.
	Page func(ctx context.Context, text terminal.Text) error
	// Now tells the time.
	Now func() time.Time
}

// A Drawing is a form in which a catalog can be drawn.
type Drawing struct {
	Name string
	Draw func(c *catalog.Catalog) string
}

// A Function is one that a text at the prompt can call and a script cannot.
type Function struct {
	// Signature is as in plan(): Events.
	Signature, Doc string
	Call           func(ctx context.Context, args []any) (any, error)
}
