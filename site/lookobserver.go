package site

import (
	"context"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
)

// A LookObserver is called at the beginning of a look that takes time: a command or a fact. It
// returns a function for lines of output, and one to call at the end.
type LookObserver func(what string) (line func(string), done func())

// A lookingRunner tells [Process.ObserveLook] of commands that only look: a host handles the
// output of all other commands.
type lookingRunner struct {
	host.Runner
	process *Process
}

// Run implements host.Runner.
func (l lookingRunner) Run(ctx context.Context, c host.Cmd) (host.Result, error) {
	if c.OnLine == nil {
		p := l.process
		line, done := p.ObserveLook(p.Secrets.Redact("$ " + c.String()))
		defer done()
		c.OnLine = func(text string) { line(p.Secrets.Redact(text)) }
	}
	return l.Runner.Run(ctx, c)
}

// gatherers returns the gatherers of facts. They report to looking unless it is nil.
func gatherers(looking LookObserver) []facts.Gatherer {
	list := facts.Standard()
	if looking == nil {
		return list
	}
	for i, g := range list {
		list[i].Gather = func(ctx context.Context, v *host.View) (any, error) {
			_, done := looking("fact " + g.Name)
			defer done()
			return g.Gather(ctx, v)
		}
	}
	return list
}
