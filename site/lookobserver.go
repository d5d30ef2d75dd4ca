package site

import (
	"context"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
)

// A LookObserver is told of what takes time and changes nothing, as it begins: a command or a
// fact. It returns what takes lines of output, and what is called at the end.
type LookObserver func(what string) (line func(string), done func())

// A lookingRunner tells [Process.ObserveLook] of commands that only look: a host has the lines
// of all others.
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

// gatherers returns those of the machine, which tell looking of themselves unless it is nil.
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
