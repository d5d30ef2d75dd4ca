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
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A Dialog answers one line after the other. It is not safe for concurrent use.
type Dialog struct {
	env        *environment
	manual     *manual
	printer    *printer
	completer  *completer
	transcript *transcript

	commands []Command
	pending  string // lines that wait for more
	last     string // the text that was evaluated last
	quit     bool
}

// lastValue is the name of the variable with the last value.
var lastValue = luaapi.LastValues[0]

// New returns a dialog without input so far.
func New(o Options) (*Dialog, error) {
	if o.Output == "" {
		o.Output = OutputLua
	}
	if o.ListDir == nil {
		o.ListDir = func(string) []string { return nil }
	}
	if o.Modules == nil {
		o.Modules = func() []string { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Brief == nil {
		o.Brief = func() bool { return false }
	}
	if o.Page == nil {
		o.Page = func(_ context.Context, text terminal.Text) error {
			_, err := terminal.Fprint(o.Out, text)
			return err
		}
	}
	if o.Script.ReadFile == nil {
		o.Script.ReadFile = os.ReadFile
	}
	if o.Reference == nil {
		o.Reference = func(string) (string, bool) { return "", false }
	}
	env := &environment{opts: o, builder: o.Script.Builder}
	d := &Dialog{env: env, manual: &manual{env: env}, transcript: &transcript{env: env}, commands: allCommands(o)}
	d.printer = &printer{env: env, manual: d.manual, output: o.Output}
	d.completer = &completer{env: env, manual: d.manual, commands: d.commands}
	return d, d.Reset()
}

// Reset forgets all declarations and definitions, and gathers the facts again.
func (d *Dialog) Reset() error {
	if err := d.env.reset(); err != nil {
		return err
	}
	d.pending, d.transcript.entries, d.transcript.loadedFiles, d.transcript.droppedCount = "", nil, nil, 0
	return nil
}

// Close releases the interpreter.
func (d *Dialog) Close() { d.env.close() }

// Complete returns the completions at the cursor, an offset in text. It gathers facts if these are
// to be completed, and changes nothing.
func (d *Dialog) Complete(text string, at int) Completion {
	return d.completer.complete(d.pending, text, at)
}

// Hint returns one line about the word at the cursor, an offset in text, or "". It uses only what
// is known already.
func (d *Dialog) Hint(text string, at int) string { return d.completer.hint(d.pending, text, at) }

// Type returns the existing type with that name, or nil.
func (d *Dialog) Type(name string) *resource.Type { return d.env.typeNamed(name) }

// Interp returns the interpreter of the texts, until the next Reset.
func (d *Dialog) Interp() *luaapi.Interp { return d.env.in }

// Facts returns the facts of the machine.
func (d *Dialog) Facts() *facts.Facts { return d.env.facts }

// Sources finds the texts that were evaluated.
func (d *Dialog) Sources() diag.Sources { return d.env.sources }

// An Answer is the result of a line.
type Answer struct {
	// More is set if the line is the beginning of a longer text. Handle waits for the rest.
	More bool
	// Quit is set if the dialog has ended.
	Quit bool
	// Err is the mistake in the text, which was printed already.
	Err error
}

// Handle answers a line, or several at once.
func (d *Dialog) Handle(ctx context.Context, text string) Answer {
	for {
		first, rest := text, ""
		if d.pending == "" {
			first, rest = split(text)
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

// Finished reports whether a text can be answered. If not, it is the beginning of a longer text.
func (d *Dialog) Finished(text string) bool {
	if d.pending == "" && (isCommand(text) || isQuestion(text)) {
		return true
	}
	return !luaapi.Unfinished(d.pending + text)
}

// handle answers a single command or chunk of Lua.
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

// Eval evaluates a text and prints its values.
func (d *Dialog) Eval(ctx context.Context, text string) error {
	d.last = text
	res, err := d.env.console.Eval(ctx, text)
	d.transcript.remember(text, res, err)
	if err != nil {
		return err
	}
	d.announce(res)
	return d.printer.print(ctx, res.Values)
}

// Script evaluates a text that is a whole script, or one expression. Name is its name in messages.
// Mistakes are returned and not printed.
func (d *Dialog) Script(ctx context.Context, name, text string) error {
	res, err := d.env.console.EvalAs(ctx, name, text)
	if err != nil {
		return err
	}
	return d.printer.print(ctx, res.Values)
}

// Load evaluates a script, or loads another file that declares resources.
func (d *Dialog) Load(ctx context.Context, name string, text []byte) error {
	d.transcript.loadedFiles = append(slices.DeleteFunc(d.transcript.loadedFiles, func(x string) bool { return x == name }), name)
	handled := false
	if d.env.opts.LoadOther != nil {
		_, err := d.env.console.Adopt(func() (err error) {
			handled, err = d.env.opts.LoadOther(ctx, name, text)
			return err
		})
		if handled || err != nil {
			return err
		}
	}
	res, err := d.env.console.Load(ctx, name, string(text))
	d.transcript.rememberScript(name, string(text), res, err)
	if err != nil {
		return err
	}
	d.announce(res)
	return nil
}

// announce says which declarations of earlier texts were replaced.
func (d *Dialog) announce(res luaapi.Evaluation) {
	for _, r := range res.Replacements {
		d.printf("%s replaces the declaration at %s\n", r.New.ID, r.Old.Pos)
	}
}

// Report prints an error as a run does.
func (d *Dialog) Report(err error) { d.env.report(err) }

func (d *Dialog) printf(format string, args ...any) {
	terminal.Fprintf(d.env.opts.Out, format, args...)
}

// print prints a text with one line break at its end.
func (d *Dialog) print(text string) {
	fmt.Fprintln(d.env.opts.Out, strings.TrimRight(text, "\n"))
}

// Prompt returns the prompts of the first line and of further lines. The variables _PROMPT and
// _PROMPT2 replace them, as in the shell of Lua.
func (d *Dialog) Prompt() (first, more string) {
	text := func(name, or string) string {
		if s, ok := d.env.console.Get(name).(lua.LString); ok {
			return string(s)
		}
		return or
	}
	return text("_PROMPT", "ccm> "), text("_PROMPT2", "  >> ")
}

// Last returns the text that was evaluated last, "" if there was none.
func (d *Dialog) Last() string { return d.last }

// Forget makes .save leave out all texts so far.
func (d *Dialog) Forget() {
	d.transcript.entries, d.transcript.droppedCount = nil, len(d.transcript.loadedFiles)
}
