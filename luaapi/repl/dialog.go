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
	"os"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

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
	loaded     []string // the scripts and manifests
	forgotten  int      // how many of them .save leaves out
	last       string   // the text that was evaluated last
	documented bool
	allTopics  []topic
	quit       bool
}

// lastValue is the variable that holds the last value.
var lastValue = luaapi.LastValues[0]

// New returns a dialog that has heard nothing yet.
func New(o Options) (*Dialog, error) {
	d := &Dialog{opts: o, builder: o.Script.Builder, output: o.Output}
	if d.output == "" {
		d.output = OutputLua
	}
	if d.opts.ListDir == nil {
		d.opts.ListDir = func(string) []string { return nil }
	}
	if d.opts.Now == nil {
		d.opts.Now = time.Now
	}
	if d.opts.Brief == nil {
		d.opts.Brief = func() bool { return false }
	}
	if d.opts.Page == nil {
		d.opts.Page = func(_ context.Context, text terminal.Text) error {
			_, err := terminal.Fprint(d.opts.Out, text)
			return err
		}
	}
	if d.opts.Script.ReadFile == nil {
		d.opts.Script.ReadFile = os.ReadFile
	}
	if d.opts.Reference == nil {
		d.opts.Reference = func(string) (string, bool) { return "", false }
	}
	d.commands = d.allCommands()
	return d, d.Reset()
}

// Reset forgets what was declared and defined, and asks for the facts anew.
func (d *Dialog) Reset() error {
	reg, f, err := d.opts.Begin()
	if err != nil {
		return err
	}
	d.Close()
	*d.builder = catalog.Builder{}
	d.registry, d.facts, d.pending, d.typed = reg, f, "", nil
	d.loaded, d.forgotten = nil, 0
	script := d.opts.Script
	script.Registry, script.Facts = reg, f
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

// Type returns the type of that name that is there already, or nil.
func (d *Dialog) Type(name string) *resource.Type {
	for _, t := range d.registry.Types() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Interp returns what evaluates the texts, until the next Reset.
func (d *Dialog) Interp() *luaapi.Interp { return d.in }

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
	if d.pending == "" {
		if hint := d.habitHint(text); hint != "" {
			d.print(hint)
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
	d.loaded = append(slices.DeleteFunc(d.loaded, func(x string) bool { return x == name }), name)
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
func (d *Dialog) announce(res luaapi.Evaluation) {
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

func (d *Dialog) printf(format string, args ...any) { terminal.Fprintf(d.opts.Out, format, args...) }

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
