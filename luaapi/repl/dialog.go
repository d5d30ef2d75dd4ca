// Package repl is the prompt of ccm without its terminal: lines go in, answers
// come out. It evaluates Lua, keeps what was declared in a scratch catalog, and
// knows the commands that begin with a dot, the documentation and the
// completions. What looks at the machine or changes it are commands that its
// caller adds.
//
// Begin with [New] and [Dialog.Handle].
package repl

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
)

// Options are what a dialog works with.
type Options struct {
	// Script is what scripts get to see. Its Builder is the scratch catalog. Its
	// Facts are left out.
	Script luaapi.Options
	// Facts returns the facts of the machine as they are now. Reset asks again.
	Facts func() (*facts.Facts, error)
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
	Paint func(text string) string
	// Document fills in the documentation of the schemas. It is called once, when
	// it is needed.
	Document func() error
	// Reference returns the reference of a type or of one of its properties, which
	// is called file.mode.
	Reference func(topic string) (text string, ok bool)
	// ListDir lists a directory for completion; directories end with a slash.
	ListDir func(dir string) []string
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

// A Dialog answers one line after the other. It is not safe for use by several
// goroutines.
type Dialog struct {
	opts     Options
	registry *resource.Registry
	builder  *catalog.Builder
	facts    *facts.Facts
	in       *luaapi.Interp
	session  *luaapi.Session

	commands   []Command
	output     string
	pending    string // lines that wait for more
	typed      []entry
	last       string // the text that was evaluated last
	documented bool
	allTopics  []topic
	quit       bool
}

// lastValue is the variable that holds the last value.
const lastValue = luaapi.LastValue

// New returns a dialog that has heard nothing yet.
func New(o Options) (*Dialog, error) {
	d := &Dialog{opts: o, registry: o.Script.Registry, builder: o.Script.Builder, output: o.Output}
	if d.output == "" {
		d.output = OutputLua
	}
	if d.opts.ListDir == nil {
		d.opts.ListDir = func(string) []string { return nil }
	}
	if d.opts.Now == nil {
		d.opts.Now = time.Now
	}
	if d.opts.Reference == nil {
		d.opts.Reference = func(string) (string, bool) { return "", false }
	}
	d.commands = d.allCommands()
	return d, d.Reset()
}

// Reset forgets what was declared and defined, and asks for the facts anew.
func (d *Dialog) Reset() error {
	f, err := d.opts.Facts()
	if err != nil {
		return err
	}
	d.Close()
	*d.builder = catalog.Builder{}
	d.facts, d.pending, d.typed = f, "", nil
	script := d.opts.Script
	script.Facts = f
	d.in = luaapi.New(script)
	d.session = luaapi.NewSession(d.in, d.opts.Dir)
	for _, f := range d.opts.Functions {
		name, _, _ := strings.Cut(f.Signature, "(")
		d.session.Define(name, f.Call)
	}
	return nil
}

// Close releases the interpreter.
func (d *Dialog) Close() {
	if d.in != nil {
		d.in.Close()
	}
}

// Facts returns the facts of the machine.
func (d *Dialog) Facts() *facts.Facts { return d.facts }

// Sources finds the texts that were evaluated.
func (d *Dialog) Sources() diag.Sources {
	return func(file string) (string, bool) {
		if text, ok := d.in.Sources()(file); ok || d.opts.Sources == nil {
			return text, ok
		}
		return d.opts.Sources(file)
	}
}

// An Answer is what became of a line.
type Answer struct {
	// More says that the line is the beginning of something. Handle waits for the
	// rest.
	More bool
	// Quit says that the dialog is at its end.
	Quit bool
	// Err is what was wrong. It has been printed.
	Err error
}

// Handle answers a line, or several at once.
func (d *Dialog) Handle(ctx context.Context, text string) Answer {
	for {
		first, rest := text, ""
		if d.pending == "" {
			first, rest = d.split(text)
		}
		a := d.handle(ctx, first)
		if a.Err != nil || a.Quit || rest == "" {
			return a
		}
		text = rest
	}
}

// Pending reports whether lines wait for more.
func (d *Dialog) Pending() bool { return d.pending != "" }

// Drop forgets the lines that wait for more.
func (d *Dialog) Drop() { d.pending = "" }

// Finished reports whether a text can be answered as it is. If not, it is the
// beginning of something.
func (d *Dialog) Finished(text string) bool {
	if d.pending == "" && (isCommand(text) || isQuestion(text)) {
		return true
	}
	return !luaapi.Unfinished(d.pending + text)
}

// handle answers a text that is one thing.
func (d *Dialog) handle(ctx context.Context, text string) (a Answer) {
	if d.pending == "" {
		switch {
		case strings.TrimSpace(text) == "":
			return a
		case isCommand(text):
			name, arg, _ := splitCommand(text)
			a.Err = d.run(ctx, name, strings.TrimSpace(arg))
			d.Report(a.Err)
			a.Quit = d.quit
			return a
		case isQuestion(text):
			a.Err = d.explain(strings.Trim(strings.TrimSpace(text), "?"))
			d.Report(a.Err)
			return a
		}
	}
	text = d.pending + text
	if luaapi.Unfinished(text) {
		d.pending, a.More = text+"\n", true
		return a
	}
	d.pending = ""
	a.Err = d.Eval(ctx, text)
	d.Report(a.Err)
	return a
}

// split returns the first of several things that were given at once. A text
// that is Lua as a whole is one thing.
func (d *Dialog) split(text string) (first, rest string) {
	line, below, several := strings.Cut(text, "\n")
	if !several {
		return text, ""
	}
	if isCommand(line) || isQuestion(line) || strings.TrimSpace(line) == "" {
		return line, below
	}
	if luaapi.Unfinished(text) || luaapi.Parses(text) || !separable(text) {
		return text, ""
	}
	return cut(text)
}

// separable reports whether a text is a sequence of things of which each can be
// answered.
func separable(text string) bool {
	for text != "" {
		first, rest := cut(text)
		if !isCommand(first) && !isQuestion(first) && strings.TrimSpace(first) != "" && !luaapi.Parses(first) && !luaapi.Unfinished(first) {
			return false
		}
		text = rest
	}
	return true
}

// cut returns the fewest first lines of a text that are not the beginning of
// something, and the other lines.
func cut(text string) (first, rest string) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if first == "" && (isCommand(line) || isQuestion(line)) {
			return line, strings.Join(lines[1:], "")
		}
		if first += line; !luaapi.Unfinished(first) {
			return first, strings.Join(lines[i+1:], "")
		}
	}
	return first, ""
}

// Eval evaluates a text and prints what it comes to.
func (d *Dialog) Eval(ctx context.Context, text string) error {
	d.last = text
	res, err := d.session.Eval(ctx, text)
	d.remember(text, res, err)
	if err != nil {
		return err
	}
	d.announce(res)
	return d.printValues(ctx, res.Values)
}

// Script evaluates a text that is a script as a whole, or one expression. Name
// is how messages speak of it. The mistakes in it are returned and not printed.
func (d *Dialog) Script(ctx context.Context, name, text string) error {
	res, err := d.session.EvalAs(ctx, name, text)
	if err != nil {
		return err
	}
	return d.printValues(ctx, res.Values)
}

// Load evaluates a script, or loads another file that declares resources.
func (d *Dialog) Load(ctx context.Context, name string, text []byte) error {
	handled := false
	if d.opts.LoadOther != nil {
		_, err := d.session.Adopt(func() (err error) {
			handled, err = d.opts.LoadOther(ctx, name, text)
			return err
		})
		if handled || err != nil {
			return err
		}
	}
	res, err := d.session.Load(ctx, name, string(text))
	d.rememberScript(name, string(text), res, err)
	if err != nil {
		return err
	}
	d.announce(res)
	return nil
}

// announce says which declarations of earlier texts were replaced.
func (d *Dialog) announce(res luaapi.Result) {
	for _, r := range res.Replaced {
		d.printf("%s replaces the declaration at %s\n", r.New.ID, r.Old.Pos)
	}
}

// Report prints an error as a run does.
func (d *Dialog) Report(err error) {
	if err != nil {
		diag.Render(d.opts.Out, "", err, d.Sources())
	}
}

func (d *Dialog) printf(format string, args ...any) { fmt.Fprintf(d.opts.Out, format, args...) }

// print prints a text and ends its line.
func (d *Dialog) print(text string) {
	fmt.Fprintln(d.opts.Out, strings.TrimRight(text, "\n"))
}

// document fills in the documentation of the schemas.
func (d *Dialog) document() {
	if d.documented || d.opts.Document == nil {
		return
	}
	d.documented = true
	if err := d.opts.Document(); err != nil {
		d.Report(err)
	}
}

// Prompt returns the prompt for a first line and that for the lines after it.
// The variables _PROMPT and _PROMPT2 replace them, as in the shell of Lua.
func (d *Dialog) Prompt() (first, more string) {
	text := func(name, or string) string {
		if s, ok := d.session.Get(name).(lua.LString); ok {
			return string(s)
		}
		return or
	}
	return text("_PROMPT", "ccm> "), text("_PROMPT2", "  >> ")
}
