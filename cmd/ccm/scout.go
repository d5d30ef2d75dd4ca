package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/state"
)

// An observed runner tells of the commands that it has run.
type observed struct {
	host.Runner
	ran func()
}

// Run implements host.Runner.
func (o *observed) Run(ctx context.Context, c host.Cmd) (host.Result, error) {
	res, err := o.Runner.Run(ctx, c)
	if o.ran != nil {
		o.ran()
	}
	return res, err
}

// prefetch has resources looked at while the site is still being read. The commands
// that it runs meanwhile go through e.runner.
func (e *env) prefetch(ctx context.Context, l *loading) {
	l.site.prefetch = converge.NewPrefetcher(ctx, l.site.registry, l.site.facts, &l.site.host.View)
	l.builder.Added = l.site.prefetch.Enqueue
	e.runner.ran = l.site.prefetch.Invalidate
}

// lockEarly takes the lock of the state directory before the site is read, if that
// can be done at once, so that no other run changes what is looked at meanwhile. A
// state directory that is not there is not made for that: the site may have
// mistakes.
func (e *env) lockEarly(ctx context.Context, f *runFlags, run string) {
	store, err := e.store(f.stateDir, f.limits())
	if err != nil {
		return // it will be said
	}
	if _, err := os.Stat(filepath.Join(store.Dir(), "lock")); err != nil {
		return
	}
	held, err := state.Lock(ctx, store.Dir(), e.secrets.Redact(strings.Join(os.Args, " ")), 0, e.clock.Now())
	if err != nil {
		return // the run will wait for it, or say who has it
	}
	e.alone, e.held = true, held
	e.beginWork(store, run)
}

// unlockEarly gives the lock back, if the run did not come to hold it.
func (e *env) unlockEarly() {
	if e.held != nil {
		e.endWork()
		_ = e.held.Unlock()
		e.held = nil
	}
}
