// Package prompt is the dialog of a user with this machine: the prompt of package repl, at the
// terminal of package term, with commands that plan, apply and look.
package prompt

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/luaapi/repl/term"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/reference"
)

// Options are those of a prompt.
type Options struct {
	Site   *site.Options
	Record site.RecordOptions
	// Args are a script to evaluate first, and its arguments.
	Args []string
	// Plan forbids to apply anything.
	Plan bool
	// Diff is how much of the differences is shown.
	Diff report.DiffMode
	// Form is the form of printed values; see repl.Outputs.
	Form string
	// Print takes the output of scripts, Data the answers.
	Print, Data io.Writer
	Stdout      *terminal.Writer
	Color       bool
	// Log returns a log that writes to w.
	Log func(w terminal.Printer) *slog.Logger
	// Init evaluates the user's file repl.lua first.
	Init bool
	// Greeting is printed before the first prompt.
	Greeting string
	Terminal *term.Terminal
}

// A Prompt is a dialog with a scratch site.
type Prompt struct {
	Dialog *repl.Dialog

	process  *site.Process
	options  Options
	scratch  *site.Scratch
	terminal *term.Terminal
	events   liveEvents
}

// New makes a dialog without input so far.
func New(ctx context.Context, process *site.Process, o Options) (*Prompt, error) {
	p := &Prompt{process: process, options: o, terminal: o.Terminal}
	var scriptArgs []string
	if len(o.Args) > 0 {
		o.Site.Data.Site, scriptArgs = o.Args[0], o.Args[1:]
	}
	var err error
	p.scratch, err = process.NewScratch(ctx, site.ScratchOptions{
		Site: o.Site, Record: o.Record, Args: scriptArgs, Texts: o.Diff != report.DiffOff,
		Host:    site.HostOptions{Log: o.Log(process.Messages.W)},
		Interp:  func() *luaapi.Interp { return p.Dialog.Interp() },
		Explain: func(err error) { p.Dialog.Report(err) },
	})
	if err != nil {
		return nil, err
	}
	script := p.scratch.ScriptOptions(ctx)
	script.Print = o.Print
	var paint func(string) terminal.Text
	if o.Color {
		paint = term.Paint
	}
	p.Dialog, err = repl.New(repl.Options{
		Script: script,
		Reset:  func() (*resource.Registry, *facts.Facts, error) { return p.scratch.Reset(ctx) },
		Dir:    p.scratch.Dir(), Out: o.Data, Output: o.Form, Paint: paint, Now: process.Clock.Now,
		Commands: append(p.commands(), p.terminal.Commands()...), Functions: p.functions(),
		Drawings:  []repl.Drawing{{Name: "dot", Draw: report.Dot}, {Name: "mermaid", Draw: report.Mermaid}},
		Document:  func() error { _, err := site.Documented(); return err },
		Types:     sync.OnceValue(reference.AllTypes),
		Reference: findText,
		ListDir:   p.scratch.ListDir, Modules: p.scratch.Modules,
		LoadOther: p.scratch.LoadManifest, Sources: p.scratch.Source,
		Brief: func() bool { return p.terminal.Active() && terminal.IsTerminal(o.Stdout) }, Page: p.terminal.Page,
	})
	if err != nil {
		return nil, err
	}
	process.Messages.Sources = p.Dialog.Sources()
	return p, nil
}

// findText returns the reference of a topic.
func findText(topic string) (string, bool) {
	reg, err := site.Documented()
	if err != nil {
		return "", false
	}
	ref, err := reference.Find(reg, topic)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	ref.WriteText(terminal.NewWriter(&b))
	return b.String(), true
}

// Script evaluates a text, after the script file if it is not "". Name is the name of the text in
// messages. The end of the process ends it, with term.ErrStopped.
func (p *Prompt) Script(ctx context.Context, file, name, text string) (err error) {
	ctx, cancel := p.terminal.Stoppable(ctx)
	defer cancel()
	if file != "" {
		err = p.load(ctx, file)
	}
	if err == nil {
		err = p.Dialog.Script(ctx, name, text)
	}
	if ctx.Err() != nil {
		return term.ErrStopped
	}
	return err
}

// load evaluates the given script.
func (p *Prompt) load(ctx context.Context, file string) error {
	shown, text, err := p.process.ReadInput(ctx, file)
	if err != nil {
		return err
	}
	if p.scratch.File, err = site.Name(file); err != nil {
		return err
	}
	return p.Dialog.Load(ctx, shown, []byte(text))
}

// Converse prompts until the input ends.
func (p *Prompt) Converse(ctx context.Context) error {
	return p.terminal.Converse(ctx, p.Dialog, p.openHistory(), func(ctx context.Context) {
		terminal.Fprintf(p.options.Stdout, "%s", terminal.LinesText(p.options.Greeting))
		p.prepare(ctx)
	})
}

// prepare evaluates the file of the user and the given script. Mistakes in them are printed and
// do not prevent the prompt.
func (p *Prompt) prepare(ctx context.Context) {
	if p.options.Init {
		name := filepath.Join(site.UserConfig(), "repl.lua")
		text, err := p.process.Files.ReadFound(name, "", "skip it with --no-init")
		if err == nil {
			err = p.Dialog.Load(ctx, name, text)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			p.Dialog.Report(err)
		}
		p.Dialog.Forget()
	}
	if len(p.options.Args) > 0 {
		p.Dialog.Report(p.load(ctx, p.options.Args[0]))
	}
}

// historyFile returns the file of the history, "" for none.
func (p *Prompt) historyFile() string {
	dir := p.options.Record.StateDir
	for _, d := range []string{os.Getenv("CCM_STATE_DIR"), os.Getenv("XDG_STATE_HOME")} {
		if dir == "" && filepath.IsAbs(d) {
			if dir = d; d != os.Getenv("CCM_STATE_DIR") {
				dir = filepath.Join(d, "ccm")
			}
		}
	}
	if home := os.Getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state", "ccm")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "repl_history")
}

// openHistory returns the history. If it cannot be kept, it warns once.
func (p *Prompt) openHistory() *repl.History {
	messages := p.process.Messages
	file := p.historyFile()
	if err := p.process.Files.CheckPlace(file); err != nil {
		messages.Warn("history not available: " + err.Error())
		file = ""
	}
	h, err := repl.OpenHistory(file, p.process.Clock.Now, func(text string) string {
		return p.process.Secrets.Redact(repl.Redact(text, p.scratch.Registry()))
	})
	h.Hold()
	if err != nil {
		messages.Warn(err.Error())
	}
	return h
}

// planned plans a catalog, and keeps the events.
func (p *Prompt) planned(ctx context.Context, c *catalog.Catalog, reporters ...event.Reporter) (event.Summary, error) {
	p.events = liveEvents{}
	return p.scratch.Plan(ctx, c, append([]event.Reporter{&p.events}, reporters...))
}
