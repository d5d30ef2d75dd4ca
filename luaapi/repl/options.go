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

// Options are the environment of a dialog.
type Options struct {
	// Script are the options of the interpreter. Its Builder is the scratch catalog. Its Registry and
	// Facts are not used.
	Script luaapi.Options
	// Reset returns the types before any input, to which types can be added, and the present facts of
	// the machine. Reset calls it again.
	Reset func() (*resource.Registry, *facts.Facts, error)
	// Dir is the start of relative paths.
	Dir string
	// Out takes the answers.
	Out io.Writer
	// Commands are added to the commands of every dialog.
	Commands []Command
	// Functions are added to the functions of scripts.
	Functions []Function
	// Output is the first form of values: lua, json or yaml.
	Output string
	// Drawings are the forms of .graph in addition to text.
	Drawings []Drawing
	// LoadOther loads a file that is not a script. Nil if all files are.
	LoadOther func(ctx context.Context, name string, text []byte) (handled bool, err error)
	// Sources finds texts that were evaluated elsewhere, such as manifests; may be nil.
	Sources diag.Sources
	// Paint colors Lua. Nil leaves it without colors.
	Paint func(text string) terminal.Text
	// Document fills in the documentation of the schemas. It is called once, at the first use.
	Document func() error
	// Types returns all types, also types of modules that are not required yet. May be nil.
	Types func() []*resource.Type
	// Reference returns the reference of a type, or of a property such as file.mode.
	Reference func(topic string) (text string, ok bool)
	// ListDir lists a directory for completion; directories end with a slash.
	ListDir func(dir string) []string
	// Modules returns the names of modules by other authors that require finds. May be nil.
	Modules func() []string
	// Brief is set if a person reads the answers: long values are cut, and the rest is
	// counted.
	Brief func() bool
	// Page shows a text in a pager.
	Page func(ctx context.Context, text terminal.Text) error
	// Now returns the time.
	Now func() time.Time
}

// A Drawing is a form in which a catalog can be drawn.
type Drawing struct {
	Name string
	Draw func(c *catalog.Catalog) string
}

// A Function can be called by a text at the prompt, but not by a script.
type Function struct {
	// Signature is as in plan(): Events.
	Signature, Doc string
	Call           func(ctx context.Context, args []any) (any, error)
}
