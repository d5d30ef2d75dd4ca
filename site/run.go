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
	// NamesUndeclared is set if the report names, at most once a day for a site, how many resources are no longer declared.
	NamesUndeclared bool
	// Reporters take the events.
	Reporters []event.Reporter
	// CheckIdempotent looks again after a run without failures, see [Run.Idempotence].
	CheckIdempotent bool
	// Explain takes the errors of functions of scripts that wait for an outcome. Nil prints them.
	Explain func(error)
	// Timings measures the phases. May be nil.
	Timings *Timings
}

// A Run is one run of a site, or a plan of it.
type Run struct {
	Site *Site

	file           string
	args           []string
	process        *Process
	options        *RunOptions
	recorder       *Recorder
	state          *RunState
	engine         *converge.Engine
	scripts        *scriptReporter
	summary        event.Summary
	timedOut       bool
	walked         bool // set once the catalog was converged or planned: there is something to record
	deadline       time.Time
	read           time.Time   // when the site was read
	nonidempotence error       // of the second look
	stop           *mergedStop // ends the walk
}

// ReadRun reads the script or manifest of a run. Unless it is a plan, it takes the lock of the state
// directory, if that is free. Args are the arguments of the script. [Run.End] must be called unless
// there is an error.
func (p *Process) ReadRun(ctx context.Context, file string, args []string, o *RunOptions) (*Run, error) {
	r := &Run{file: file, args: args, process: p, options: o, recorder: p.NewRecorder(o.Record), stop: newMergedStop(p.Stop)}
	p.Commands.SetRun(o.ID, nil)
	p.Files.setLimit(o.Site.EvalTimeout, o.Record.Timeout)
	if !o.Plan {
		r.recorder.lockEarly(ctx, o.ID)
	}
	runner := &observedRunner{Runner: p.runner()}
	o.Host.runner = runner
	h := r.recorder.Host(o.Host)
	var err error
	r.Site, err = p.load(ctx, h, file, args, o.Site, loadOptions{noop: o.Plan && !o.ForRun, runner: runner, timings: o.Timings})
	if err != nil {
		r.End()
		return nil, err
	}
	r.read = time.Now()
	return r, nil
}

// prefetchAge is how old the states may be that were looked at while the site was read.
const prefetchAge = 2 * time.Second

// Begin takes the lock of the state directory and begins the record of the run. In a plan, it only
// reads the records of earlier runs. It does nothing if the run has begun.
func (r *Run) Begin(ctx context.Context) (err error) {
	if r.engine != nil {
		return nil
	}
	o := r.options
	o.Timings.enter(phaseState)
	if o.Plan {
		r.state, err = r.recorder.Open(r.Site.name, r.Site.path)
	} else {
		info := r.Site.RunInfo(o.ID, "run")
		info.ChecksOnly = o.MonitorOnly
		r.state, err = r.recorder.Begin(ctx, info)
	}
	if err != nil {
		return err
	}
	engine := r.newEngine()
	if err := r.state.attach(engine, r.Site.Catalog); err != nil {
		return err
	}
	r.engine = engine
	return nil
}

// newEngine returns the engine for one walk, without a record.
func (r *Run) newEngine() *converge.Engine {
	o, s := r.options, r.Site
	engine := &converge.Engine{
		Registry: s.Registry, Facts: s.Facts, Reporters: o.Reporters, Texts: o.Texts, MonitorOnly: o.MonitorOnly,
		Stop: r.stop.signal, Sequential: r.process.Sequential, Removals: resource.Removals{WithData: o.Site.WithData},
	}
	if (o.Plan || r.recorder.exclusive) && time.Since(r.read) < prefetchAge {
		engine.Prefetcher = s.prefetcher
	}
	return engine
}

// Plan plans the run and reports to reporters. It needs no [Run.Begin]: it takes no lock and records
// nothing.
func (r *Run) Plan(ctx context.Context, reporters ...event.Reporter) (event.Summary, error) {
	earlier, err := r.recorder.Open(r.Site.name, r.Site.path)
	if err != nil {
		return event.Summary{}, err
	}
	engine := r.newEngine()
	if err := earlier.attach(engine, r.Site.Catalog); err != nil {
		return event.Summary{}, err
	}
	engine.Reporters = slices.Concat(engine.Reporters, reporters)
	ctx, cancel := r.limited(ctx)
	defer cancel()
	r.scripts = r.Site.reportTo(ctx, engine, r.explain)
	sum := engine.Plan(ctx, &r.Site.Host.View, r.Site.Catalog)
	r.noteTimeout(ctx)
	return sum, nil
}

// Stop ends the walk after the present resource. The events of the others report that they were skipped.
func (r *Run) Stop() { r.stop.set() }

// IsPlan reports whether the options make a plan.
func (r *Run) IsPlan() bool { return r.options.Plan }

// Summary returns the summary of the last [Run.Converge].
func (r *Run) Summary() event.Summary { return r.summary }

// explain takes the error of a function of a script.
func (r *Run) explain(err error) {
	if r.options.Explain != nil {
		r.options.Explain(err)
		return
	}
	r.process.Messages.Explain(err)
}

// Converge converges the machine, or plans that, and reports to reporters after those of the options. The run must
// have begun.
func (r *Run) Converge(ctx context.Context, reporters ...event.Reporter) event.Summary {
	o, s := r.options, r.Site
	ctx, cancel := r.limited(ctx)
	defer cancel()
	o.Timings.enter(phaseConverge)
	engine := *r.engine
	engine.Reporters = slices.Concat(engine.Reporters, reporters)
	registrar := r.newRegistrar(ctx) // tells the registry of services which of them are in order
	if registrar != nil {
		engine.Reporters = append(engine.Reporters, registrar)
	}
	r.scripts = s.reportTo(ctx, &engine, r.explain)
	engine.Reporters = append(slices.Clip(engine.Reporters), o.Timings)
	if o.Plan {
		r.summary = engine.Plan(ctx, &s.Host.View, s.Catalog)
	} else {
		r.summary = engine.Run(ctx, s.Host, s.Catalog)
		if r.summary.Counts[event.Changed] > 0 {
			r.recorder.labelFilesOrWarn(ctx, s.Host)
		}
		r.recorder.limitTimesOrWarn(ctx, s.Host)
	}
	r.walked = true
	o.Timings.enter(phaseReport)
	if registrar != nil {
		r.summary.Registrations = registrar.finish()
	}
	if !o.Plan && !o.MonitorOnly && o.Site.Part.isWhole() && !r.summary.Interrupted {
		n, err := r.state.Writer.CountUndeclared()
		if err != nil {
			r.process.Messages.Warn("cannot determine which resources are no longer declared: " + err.Error())
		}
		r.summary.Undeclared = n
		r.summary.NameUndeclared = n > 0 && o.NamesUndeclared && r.state.Writer.NoticeUndeclared()
	}
	r.noteTimeout(ctx)
	if o.CheckIdempotent && !o.Plan && !r.timedOut && !r.scripts.failed && !r.summary.Interrupted && !r.summary.Failed() {
		r.nonidempotence = r.checkIdempotent(ctx)
	}
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
	return context.WithDeadlineCause(ctx, r.deadline, RunTimeoutError{limit})
}

// noteTimeout notes whether a context of limited has ended because of the limit.
func (r *Run) noteTimeout(ctx context.Context) {
	if _, ok := errors.AsType[RunTimeoutError](context.Cause(ctx)); ok {
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

// RestartTimeout restarts the time limit at the next resource.
func (r *Run) RestartTimeout() { r.deadline = time.Time{} }

// TimedOut reports whether the run was ended because it took longer than it may.
func (r *Run) TimedOut() bool { return r.timedOut }

// ScriptFailed reports whether a function of a script that waited for an outcome failed.
func (r *Run) ScriptFailed() bool { return r.scripts.failed }

// Idempotence returns the result of the second look that the options ask for: nil or a [diag.List] of
// the resources that a second run would change, or may change.
func (r *Run) Idempotence() error { return r.nonidempotence }

// checkIdempotent looks again at a converged machine.
func (r *Run) checkIdempotent(ctx context.Context) error {
	var second events
	p, s := r.process, r.Site
	engine := &converge.Engine{Registry: s.Registry, Facts: s.Facts, Reporters: []event.Reporter{&second}, Stop: r.stop.signal, Secrets: p.Secrets, Removals: r.engine.Removals}
	s.reportTo(ctx, engine, r.explain)
	if engine.Plan(ctx, &s.Host.View, s.Catalog).Interrupted {
		return r.interruption(ctx)
	}
	var list diag.List // in the order of the catalog
	for _, again := range second.unsettled() {
		list.Add(&diag.Error{Pos: again.Pos, Subject: again.ID, Err: fmt.Errorf("a second run would find it %s: %s", again.Outcome, again.Reason)})
	}
	return list.Err()
}

// End ends the record of the run, and releases the lock. It may be called again.
func (r *Run) End() {
	switch {
	case r.state == nil:
	case r.walked:
		r.state.End(r.summary)
	default:
		r.state.Release()
	}
	r.state = nil
	if r.Site != nil {
		r.Site.Close()
	}
	r.recorder.unlockIfUnused()
	r.stop.end()
}
