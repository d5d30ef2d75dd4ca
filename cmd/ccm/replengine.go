package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// providers returns the providers for a run of these resources. Those that ship
// with ccm may remember what was so in a run, so that each run has its own.
func (p *prompt) providers(list ...*resource.Resource) (*resource.Registry, error) {
	reg, err := registry(p.loading.around)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if len(reg.Factories(r.Type)) > 0 {
			continue
		}
		for _, f := range p.loading.site.registry.Factories(r.Type) {
			if _, err := reg.Replace(f); err != nil {
				return nil, err
			}
		}
	}
	return reg, nil
}

// engine returns what converges a catalog.
func (p *prompt) engine(c *catalog.Catalog, rep converge.Reporter) (*converge.Engine, error) {
	reg, err := p.providers(c.Resources...)
	if err != nil {
		return nil, err
	}
	p.events = liveEvents{}
	return &converge.Engine{
		Registry: reg, Facts: p.dialog.Facts(), Texts: p.flags.diff.value != string(report.DiffOff), Stop: p.env.stop,
		Reporter: converge.Reporters{&p.events, rep},
	}, nil
}

// tell has an engine tell what was typed, and the scripts that were applied,
// what it does.
func (p *prompt) tell(ctx context.Context, engine *converge.Engine) {
	s := *p.loading.site
	s.scripts = append(slices.Clip(s.scripts), p.dialog.Interp())
	s.tellScripts(ctx, engine, p.dialog.Report)
}

// planned plans the catalog.
func (p *prompt) planned(ctx context.Context, c *catalog.Catalog, rep converge.Reporter) (sum converge.Summary, err error) {
	engine, err := p.engine(c, rep)
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
	p.loading.site.tellScripts(ctx, engine, p.env.explain)
	p.tell(ctx, engine)
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
	if p.flags.noop {
		return errors.New("ccm was started with --noop: it only says what would be done")
	}
	switch ok, err := p.confirm("Apply this? [y/N] "); {
	case err != nil:
		return err
	case !ok:
		terminal.Fprintf(p.env.stdout, "nothing was touched\n")
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
	machine := p.host()
	if isTerminal(p.env.stderr) && os.Getenv("TERM") != "dumb" {
		line = p.env.statusLine()
		reporters = converge.Reporters{line, rep}
		machine = p.hostTelling(line, func(x host.Progress) { line.Note(x.String()) })
	}
	engine, err := p.engine(c, reporters)
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
		var w io.Writer = p.env.stderr
		if line != nil {
			w = line
		}
		before := p.signals.set(func() {
			close(stop)
			terminal.Fprintf(w, "ccm: ends after this resource; interrupt again to end that\n")
		}, cancel, p.exit)
		defer p.signals.set(before...)
	}
	defer p.alsoStop(cancel)()
	p.loading.site.tellScripts(ctx, engine, p.env.explain)
	p.tell(ctx, engine)
	sum = engine.Run(ctx, machine, c)
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
