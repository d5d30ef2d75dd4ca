package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// commands returns the commands that look at the machine or change it.
func (p *prompt) commands() []repl.Command {
	const target = "With TYPE#NAME only this resource, and what it requires."
	return []repl.Command{
		{Name: "apply", Args: "[TYPE#NAME]", Doc: "Show the plan, ask, and make it so.", More: target, Takes: repl.ArgResource, Run: p.applyCommand},
		{Name: "clear", Doc: "Clear the screen.", Run: p.clearCommand},
		{Name: "data", Args: "[KEY]", Doc: "Print what was configured, or what is at a KEY such as web.port.", Run: p.dataCommand},
		{Name: "diff", Args: "[TYPE#NAME]", Doc: "Say what .apply would do, with the differences of texts.", More: target, Takes: repl.ArgResource,
			Run: func(ctx context.Context, _ *repl.Dialog, arg string) error { return p.plan(ctx, arg, report.DiffFull) }},
		{Name: "edit", Args: "[FILE]", Doc: "Edit what was typed last, or a script, and evaluate it.", More: "The editor is that of VISUAL or EDITOR, else vi.", Takes: repl.ArgFile, Run: p.editCommand},
		{Name: "plan", Args: "[TYPE#NAME]", Doc: "Say what .apply would do.", More: target, Takes: repl.ArgResource,
			Run: func(ctx context.Context, _ *repl.Dialog, arg string) error {
				return p.plan(ctx, arg, report.DiffMode(p.flags.diff.value))
			}},
		{Name: "show", Args: "TYPE#NAME", Doc: "Print the present state of a resource, declared or not.", Takes: repl.ArgResource, Run: p.showCommand},
	}
}

// functions returns the functions that look at the machine.
func (p *prompt) functions() []repl.Function {
	return []repl.Function{
		{Signature: "plan(id?: string): Events", Doc: "Returns what .apply would do: a list of events, also by their ID, as in plan()[\"file#/etc/motd\"].diff.", Call: p.planFunction},
		{Signature: "state(id: string): State", Doc: "Returns the present state of a resource, declared or not, as in state(\"file#/etc/motd\").mode.", Call: p.stateFunction},
		{Signature: "events(): Events", Doc: "Returns what the last plan or run told.", Call: func(context.Context, []any) (any, error) { return p.lastEvents(), nil }},
	}
}

func (p *prompt) lastEvents() liveEvents {
	if p.events == nil {
		return liveEvents{}
	}
	return p.events
}

// engine returns what converges the catalog. Providers may remember what was so
// in a run, so that each has its own.
func (p *prompt) engine(rep converge.Reporter) (*converge.Engine, error) {
	reg, err := registry(p.loading.around)
	if err != nil {
		return nil, err
	}
	p.events = liveEvents{}
	return &converge.Engine{
		Registry: reg, Facts: p.dialog.Facts(), Texts: p.flags.diff.value != string(report.DiffOff), Stop: p.env.stop,
		Reporter: converge.Reporters{&p.events, rep},
	}, nil
}

// planned plans the catalog.
func (p *prompt) planned(ctx context.Context, c *catalog.Catalog, rep converge.Reporter) (sum converge.Summary, err error) {
	engine, err := p.engine(rep)
	if err != nil {
		return sum, err
	}
	flags := p.flags.runFlags
	flags.noop = true
	rec, err := p.env.record(ctx, &flags, "", "", p.site)
	if err != nil {
		return sum, err
	}
	if err := rec.attach(engine, c); err != nil {
		return sum, err
	}
	sum = engine.Plan(ctx, &p.host().View, c)
	return sum, ctx.Err()
}

// text returns the report for people.
func (p *prompt) text(diff report.DiffMode) report.Text {
	return report.Text{W: p.env.stdout, Color: p.env.colorful(p.env.stdout), Diff: diff}
}

// plan says what would be done.
func (p *prompt) plan(ctx context.Context, target string, diff report.DiffMode) error {
	c, err := p.catalog(target)
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

// interrupted says in a few words that something was cancelled.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

// applyCommand is .apply.
func (p *prompt) applyCommand(ctx context.Context, _ *repl.Dialog, target string) error {
	c, err := p.catalog(target)
	if err != nil {
		return err
	}
	rep := p.text(report.DiffMode(p.flags.diff.value))
	sum, err := p.planned(ctx, c, rep)
	if err != nil {
		return interrupted(err)
	}
	rep.Summary(sum)
	if sum.Of(converge.Pending)+sum.Of(converge.Unknown) == 0 {
		return nil
	}
	switch ok, err := p.confirm("Apply this? [y/N] "); {
	case err != nil:
		return err
	case !ok:
		fmt.Fprintln(p.env.stdout, "nothing was touched")
		return nil
	}
	return p.apply(ctx, c)
}

// confirm asks a question that only a person can answer with yes.
func (p *prompt) confirm(question string) (bool, error) {
	if p.talk == nil {
		return false, &diag.Error{Err: errors.New("nobody is there to ask"), Hint: "ccm run applies a script without asking"}
	}
	answer, err := p.talk.ask(question)
	if errors.Is(err, errDropped) {
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, err
	}
	return false, nil
}

// apply converges the machine. The first interrupt ends the run after the
// resource that is being worked on, the second cancels it.
func (p *prompt) apply(ctx context.Context, c *catalog.Catalog) error {
	var line *report.StatusLine
	rep := p.text(report.DiffMode(p.flags.diff.value))
	reporters := converge.Reporters{rep}
	if isTerminal(p.env.stderr) && os.Getenv("TERM") != "dumb" {
		line = &report.StatusLine{W: p.env.stderr}
		reporters = converge.Reporters{line, rep}
	}
	engine, err := p.engine(reporters)
	if err != nil {
		return err
	}
	flags := p.flags.runFlags
	flags.noop = false
	rec, err := p.env.record(ctx, &flags, newRunID(p.env.clock.Now()), "repl", p.site)
	if err != nil {
		return err
	}
	var sum converge.Summary
	defer func() { rec.end(sum) }()
	if err := rec.attach(engine, c); err != nil {
		return err
	}
	ctx, cancel := flags.limited(context.WithoutCancel(ctx))
	defer cancel()
	stop := make(chan struct{})
	engine.Stop = stop
	if p.signals != nil {
		before := p.signals.set(func() { close(stop) }, cancel, p.exit)
		defer p.signals.set(before...)
	}
	defer p.alsoStop(cancel)()
	sum = engine.Run(ctx, p.host(), c)
	rep.Summary(sum)
	return nil
}

// alsoStop cancels something when the process is told to end.
func (p *prompt) alsoStop(cancel func()) (end func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-p.env.stop:
			cancel()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// planFunction is plan().
func (p *prompt) planFunction(ctx context.Context, args []any) (any, error) {
	target, err := optionalID(args)
	if err != nil {
		return nil, err
	}
	c, err := p.catalog(target)
	if err != nil {
		return nil, err
	}
	if _, err := p.planned(ctx, c, converge.Reporters{}); err != nil {
		return nil, err
	}
	return p.events, nil
}

// optionalID returns the argument of a function that takes an ID or nothing.
func optionalID(args []any) (string, error) {
	if len(args) == 0 || args[0] == nil {
		return "", nil
	}
	id, ok := args[0].(string)
	if !ok {
		return "", fmt.Errorf("want a resource such as file#/etc/motd, got %v", args[0])
	}
	return id, nil
}

// look returns the present state of a resource. One that was declared is looked
// at as it was declared.
func (p *prompt) look(ctx context.Context, name string) (report.State, error) {
	id, err := resource.ParseID(name)
	if err != nil {
		return report.State{}, err
	}
	r := p.loading.builder.Get(id)
	if r == nil {
		if r, err = p.ask(id); err != nil {
			return report.State{}, err
		}
	}
	reg, err := registry(p.loading.around)
	if err != nil {
		return report.State{}, err
	}
	provider, err := reg.Select(r, p.dialog.Facts())
	if err != nil {
		return report.State{}, about(r, err)
	}
	state, err := provider.Inspect(ctx, &p.host().View, r.Spec)
	if err != nil {
		return report.State{}, about(r, err)
	}
	return report.StateOf(r.ID, provider.Name, state), nil
}

// ask makes a resource of nothing but its name, to look at it.
func (p *prompt) ask(id resource.ID) (*resource.Resource, error) {
	t := p.loading.site.registry.Type(id.Type)
	if t == nil {
		return nil, unknownType(p.loading.site.registry, id.Type)
	}
	tab := &schema.Table{Entries: []schema.Entry{{Key: t.Schema().Name().Name, Val: schema.StringValue(id.Name)}}}
	return t.Ask(tab, resource.Origin{Dir: p.loading.cwd})
}

func (p *prompt) showCommand(ctx context.Context, _ *repl.Dialog, name string) error {
	s, err := p.look(ctx, name)
	if err != nil {
		return interrupted(err)
	}
	return p.env.printState(s, "text")
}

// stateFunction is state().
func (p *prompt) stateFunction(ctx context.Context, args []any) (any, error) {
	name, err := optionalID(args)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, errors.New("want a resource such as file#/etc/motd")
	}
	s, err := p.look(ctx, name)
	if err != nil {
		return nil, err
	}
	return newLiveState(s)
}
