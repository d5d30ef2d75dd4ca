package prompt

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// commands returns the commands that look at the machine or change it.
func (p *Prompt) commands() []repl.Command {
	const target = "With TYPE#NAME, only this resource and its requirements."
	return []repl.Command{
		{Name: "apply", Args: "[TYPE#NAME]", Doc: "Show the plan, ask, and apply it.", Detail: target, Takes: repl.ArgResource, Run: p.applyCommand},
		{Name: "data", Args: "[KEY]", Doc: "Print the data, or the value at KEY.", Detail: "Example of KEY: web.port.", Run: p.dataCommand},
		{Name: "diff", Args: "[TYPE#NAME]", Doc: "Show what .apply would change, with full diffs.", Detail: target, Takes: repl.ArgResource,
			Run: func(ctx context.Context, _ *repl.Dialog, arg string) error { return p.plan(ctx, arg, report.DiffFull) }},
		{Name: "plan", Args: "[TYPE#NAME]", Doc: "Show what .apply would change.", Detail: target, Takes: repl.ArgResource,
			Run: func(ctx context.Context, _ *repl.Dialog, arg string) error { return p.plan(ctx, arg, p.options.Diff) }},
		{Name: "show", Args: "TYPE#NAME", Doc: "Print the present state of a resource.", Detail: "It need not be declared.", Takes: repl.ArgResource, Run: p.showCommand},
	}
}

// functions returns the functions that look at the machine.
func (p *Prompt) functions() []repl.Function {
	return []repl.Function{
		{Signature: "plan(id?: string): Events", Doc: "Returns what .apply would change, as a list of events, also indexed by ID: plan()[\"file#/etc/motd\"].diff.", Call: p.planFunction},
		{Signature: "state(id: string): State", Doc: "Returns the present state of a resource. It need not be declared: state(\"file#/etc/motd\").mode.", Call: p.stateFunction},
		{Signature: "events(): Events", Doc: "Returns the events of the last plan or run.", Call: func(context.Context, []any) (any, error) { return p.lastEvents(), nil }},
	}
}

func (p *Prompt) lastEvents() liveEvents {
	if p.events == nil {
		return liveEvents{}
	}
	return p.events
}

// text returns the report for people.
func (p *Prompt) text(diff report.DiffMode) report.Text {
	return report.Text{W: p.options.Stdout, Color: p.options.Color, Diff: diff}
}

// plan says what would be done.
func (p *Prompt) plan(ctx context.Context, target string, diff report.DiffMode) error {
	c, err := p.scratch.Catalog(target)
	if err != nil {
		return err
	}
	rep := p.text(diff)
	sum, err := p.planned(ctx, c, rep)
	if err == nil {
		rep.Summary(sum)
	}
	return interrupted(err)
}

// interrupted replaces the error of a cancelled context by a short one.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return diag.Interrupted("")
	}
	return err
}

// applyCommand is .apply.
func (p *Prompt) applyCommand(ctx context.Context, _ *repl.Dialog, target string) error {
	c, err := p.scratch.Catalog(target)
	if err != nil {
		return err
	}
	rep := p.text(p.options.Diff)
	sum, err := p.planned(ctx, c, rep)
	if err != nil {
		return interrupted(err)
	}
	rep.Summary(sum)
	if sum.Of(event.Pending)+sum.Of(event.Unknown) == 0 {
		return nil
	}
	if p.options.Plan {
		return errors.New("ccm was started with --noop: it only shows what would change")
	}
	switch ok, err := p.terminal.Confirm("Apply this? [y/N] "); {
	case err != nil:
		return err
	case !ok:
		terminal.Fprintf(p.options.Stdout, "nothing was changed\n")
		return nil
	}
	return p.apply(ctx, c)
}

// apply converges the machine. The first interrupt ends the run after the present resource, the
// second cancels it.
func (p *Prompt) apply(ctx context.Context, c *catalog.Catalog) error {
	stderr := p.process.Messages.W
	rep := p.text(p.options.Diff)
	p.events = liveEvents{}
	reporters := []event.Reporter{&p.events, rep}
	h := site.HostOptions{Log: p.options.Log(stderr)}
	var printer terminal.Printer = stderr
	if terminal.IsTerminal(stderr) && os.Getenv("TERM") != "dumb" {
		line := report.NewStatusLine(stderr)
		p.process.BeforePrompt = line.Pause
		defer func() { p.process.BeforePrompt = nil }()
		reporters, printer = []event.Reporter{&p.events, line, rep}, line
		h = site.HostOptions{Log: p.options.Log(line), Progress: func(x host.Progress) { line.Note(x.String()) }, Output: line.Output}
	}
	ctx, cancel := p.terminal.Stoppable(context.WithoutCancel(ctx))
	defer cancel()
	stop := make(chan struct{})
	defer p.terminal.OnInterrupt(func() {
		close(stop)
		_, _ = printer.Print(terminal.LinesText("ccm: stopping after this resource; interrupt again to stop it immediately\n"))
	}, cancel)()
	sum, err := p.scratch.Apply(ctx, c, reporters, h, stop)
	if err != nil {
		return err
	}
	rep.Summary(sum)
	return nil
}

// showCommand is .show.
func (p *Prompt) showCommand(ctx context.Context, _ *repl.Dialog, name string) error {
	s, err := p.scratch.Look(ctx, name)
	if err != nil {
		return interrupted(err)
	}
	text, err := s.Text()
	_, _ = io.WriteString(p.options.Stdout, text)
	return err
}

// dataCommand is .data.
func (p *Prompt) dataCommand(_ context.Context, _ *repl.Dialog, key string) error {
	tree := p.scratch.Data()
	if len(tree) == 0 {
		return &diag.Error{Err: diag.None("data loaded"), Hint: "load data with --data FILE or data.load(FILE)"}
	}
	val, err := facts.Static(tree).Get(key)
	if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
		return &diag.Error{Err: diag.None("data %q", nf.Path), Hint: nf.Hint()}
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.options.Data, schema.Tree(schema.ValueOf(val)))
	return err
}

// planFunction is plan().
func (p *Prompt) planFunction(ctx context.Context, args []any) (any, error) {
	target, err := optionalID(args)
	if err != nil {
		return nil, err
	}
	c, err := p.scratch.Catalog(target)
	if err != nil {
		return nil, err
	}
	if _, err := p.planned(ctx, c); err != nil {
		return nil, err
	}
	return p.events, nil
}

// stateFunction is state().
func (p *Prompt) stateFunction(ctx context.Context, args []any) (any, error) {
	name, err := optionalID(args)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, diag.Expected("a resource such as file#/etc/motd")
	}
	s, err := p.scratch.Look(ctx, name)
	if err != nil {
		return nil, err
	}
	return newLiveState(s)
}

// optionalID returns the argument of a function that takes an ID or nothing.
func optionalID(args []any) (string, error) {
	if len(args) == 0 || args[0] == nil {
		return "", nil
	}
	id, ok := args[0].(string)
	if !ok {
		return "", diag.Expected("a resource such as file#/etc/motd").Got("%v", args[0])
	}
	return id, nil
}
