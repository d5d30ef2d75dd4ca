package site

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
)

// RunOptions are the options of a run or plan.
type RunOptions struct {
	// ID is the ID of the run in the history and in its report.
	ID     string
	Site   *Options
	Record RecordOptions
	Host   HostOptions
	// Plan makes a plan and changes nothing.
	Plan bool
	// ForRun makes a plan read the site as a run does: scripts see that something will be changed.
	ForRun bool
	// MonitorOnly runs only the health checks.
	MonitorOnly bool
	// Texts adds diffs of texts to events.
	Texts bool
	// NamesUndeclared says that the report names, at most once a day for a site, how many resources are no longer declared.
	NamesUndeclared bool
	// Reporters take the events.
	Reporters []event.Reporter
	// Timings measures the phases. May be nil.
	Timings *Timings
}

// A Run is one run of a site, or a plan of it.
type Run struct {
	Site *Site

	file     string
	args     []string
	process  *Process
	options  *RunOptions
	recorder *Recorder
	state    *runState
	engine   *converge.Engine
	scripts  *scriptReporter
	summary  event.Summary
	timedOut bool
	walked   bool // set once the catalog was converged or planned: there is something to record
	deadline time.Time
}

// OpenRun reads the script or manifest and, unless it is a plan, takes the lock of the state
// directory and begins the record of the run. Args are the arguments of the script. [Run.End]
// must be called unless there is an error.
func (p *Process) OpenRun(ctx context.Context, file string, args []string, o *RunOptions) (*Run, error) {
	r := &Run{file: file, args: args, process: p, options: o, recorder: p.NewRecorder(o.Record)}
	p.Commands.SetRun(o.ID, nil)
	p.Files.setLimit(o.Site.EvalTimeout, o.Record.Timeout)
	if !o.Plan {
		r.recorder.lockEarly(ctx, o.ID)
	}
	if err := r.open(ctx, file, args); err != nil {
		r.End()
		return nil, err
	}
	return r, nil
}

func (r *Run) open(ctx context.Context, file string, args []string) (err error) {
	p, o := r.process, r.options
	runner := &observedRunner{Runner: p.Exec()}
	o.Host.runner = runner
	h := r.recorder.host(o.Host)
	if r.Site, err = p.load(ctx, h, file, args, o.Site, loadOptions{noop: o.Plan && !o.ForRun, runner: runner, timings: o.Timings}); err != nil {
		return err
	}
	name, path, err := p.bundle.nameOfRun(file, args, o.Site, p.Secrets)
	if err != nil {
		return err
	}
	o.Timings.enter(phaseState)
	if o.Plan {
		r.state, err = r.recorder.openState(name, path)
	} else {
		r.state, err = r.recorder.beginRecord(ctx, state.RunInfo{ID: o.ID, Kind: "run", Site: name, File: path, Inputs: r.Site.inputs.records(), ChecksOnly: o.MonitorOnly})
	}
	if err != nil {
		return err
	}
	s := r.Site
	r.engine = &converge.Engine{
		Registry: s.Registry, Facts: s.Facts, Reporters: o.Reporters, Texts: o.Texts, MonitorOnly: o.MonitorOnly,
		Stop: p.Stop, Sequential: p.Sequential, Removals: resource.Removals{WithData: o.Site.WithData},
	}
	if o.Plan || r.recorder.exclusive {
		r.engine.Prefetcher = s.prefetcher
	}
	return r.state.attach(r.engine, s.Catalog)
}

// Converge converges the machine, or plans that.
func (r *Run) Converge(ctx context.Context) event.Summary {
	o, s := r.options, r.Site
	ctx, cancel := r.limited(ctx)
	defer cancel()
	o.Timings.enter(phaseConverge)
	registrar := r.newRegistrar(ctx) // tells the registry of services which of them are in order
	if registrar != nil {
		r.engine.Reporters = append(slices.Clip(r.engine.Reporters), registrar)
	}
	r.scripts = s.reportTo(ctx, r.engine, r.process.Messages.Explain)
	r.engine.Reporters = append(slices.Clip(r.engine.Reporters), o.Timings)
	if o.Plan {
		r.summary = r.engine.Plan(ctx, &s.Host.View, s.Catalog)
	} else {
		r.summary = r.engine.Run(ctx, s.Host, s.Catalog)
	}
	r.walked = true
	o.Timings.enter(phaseReport)
	if registrar != nil {
		r.summary.Registrations = registrar.finish()
	}
	if !o.Plan && !o.MonitorOnly && o.Site.Part.isWhole() && !r.summary.Interrupted {
		n, err := r.state.writer.CountUndeclared()
		if err != nil {
			r.process.Messages.Warn("cannot determine which resources are no longer declared: " + err.Error())
		}
		r.summary.Undeclared = n
		r.summary.NameUndeclared = n > 0 && o.NamesUndeclared && r.state.writer.NoticeUndeclared()
	}
	r.noteTimeout(ctx)
	return r.summary
}

// limited returns ctx with the time limit of the run, which begins with the first call: a plan that is followed
// and a second look count too, the reading of the site and the wait for an answer ([Run.RestartTimeout]) do not.
func (r *Run) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := r.options.Record.Timeout
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	if r.deadline.IsZero() {
		r.deadline = time.Now().Add(limit)
	}
	return context.WithDeadlineCause(ctx, r.deadline, runTimeoutError{limit})
}

// noteTimeout notes whether a context of limited has ended because of the limit.
func (r *Run) noteTimeout(ctx context.Context) {
	if _, ok := errors.AsType[runTimeoutError](context.Cause(ctx)); ok {
		r.timedOut = true
	}
}

// interruption returns why a walk with a context of limited has ended early.
func (r *Run) interruption(ctx context.Context) error {
	if r.noteTimeout(ctx); r.timedOut {
		return context.Cause(ctx)
	}
	return ErrInterrupted
}

// RestartTimeout has the time limit restart with what comes next.
func (r *Run) RestartTimeout() { r.deadline = time.Time{} }

// TimedOut reports whether the run was ended because it took longer than it may.
func (r *Run) TimedOut() bool { return r.timedOut }

// ScriptFailed reports whether a function of a script that waited for an outcome failed.
func (r *Run) ScriptFailed() bool { return r.scripts.failed }

// CheckIdempotent looks again at a converged machine. The error is a [diag.List] of the resources
// that a second run would change, or may change.
func (r *Run) CheckIdempotent(ctx context.Context) error {
	var second events
	p, s := r.process, r.Site
	ctx, cancel := r.limited(ctx)
	defer cancel()
	engine := &converge.Engine{Registry: s.Registry, Facts: s.Facts, Reporters: []event.Reporter{&second}, Stop: p.Stop, Secrets: p.Secrets, Removals: r.engine.Removals}
	s.reportTo(ctx, engine, p.Messages.Explain)
	if engine.Plan(ctx, &s.Host.View, s.Catalog).Interrupted {
		return r.interruption(ctx)
	}
	var list diag.List // in the order of the catalog
	for _, again := range second.unsettled() {
		list.Add(&diag.Error{Pos: again.Pos, Subject: again.ID, Err: fmt.Errorf("a second run would find it %s: %s", again.Outcome, again.Reason)})
	}
	return list.Err()
}

// End ends the record of the run, and releases the lock.
func (r *Run) End() {
	switch {
	case r.state == nil:
	case r.walked:
		r.state.end(r.summary)
	default:
		r.state.release()
	}
	if r.Site != nil {
		r.Site.Close()
	}
	r.recorder.unlockIfUnused()
}
