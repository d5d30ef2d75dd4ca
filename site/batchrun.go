package site

import (
	"context"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/state"
)

// A Result is the outcome of one resource, and of the resources that it applies.
type Result struct {
	event.Summary
	ID     string // ID of the run
	Events []*event.Event
	// Incomplete is set if a follow-up of the outcome failed: a function of ccm.after, or the note
	// in the session.
	Incomplete bool
}

// Event implements event.Reporter.
func (r *Result) Event(e *event.Event) { r.Events = append(r.Events, e.Clone()) }

// Unmet reports whether a resource was skipped because of a failed one. Unlike in a run, no event
// of this Result reports that failure.
func (r *Result) Unmet() bool {
	for _, e := range r.Events {
		if len(e.Unmet) > 0 {
			return true
		}
	}
	return false
}

// A batchRun converges resources one by one, with one lock and one run in the history, so that no
// other process comes in between.
type batchRun struct {
	*RunState
	id      string
	summary event.Summary
}

// open begins a batch if none is open.
func (o *OneOff) open(ctx context.Context) (*batchRun, error) {
	if o.batch != nil {
		return o.batch, nil
	}
	id := state.NewRunID(o.recorder.options.StateDir, o.recorder.process.Clock)
	var st *RunState
	var err error
	if o.options.Plan {
		st, err = o.recorder.Open("", "")
	} else {
		st, err = o.recorder.Begin(ctx, state.RunInfo{ID: id, Kind: o.options.Kind, Inputs: o.inputs.records()})
	}
	if err != nil {
		return nil, err
	}
	o.batch = &batchRun{RunState: st, id: id, summary: event.Summary{Start: o.host.Now(), Noop: o.options.Plan}}
	return o.batch, nil
}

// Close ends the open batch. A batch without resources leaves no record.
func (o *OneOff) Close() {
	b := o.batch
	if b == nil {
		return
	}
	o.batch = nil
	if b.summary.Total() == 0 {
		b.Release()
		return
	}
	b.summary.Duration = o.host.Now().Sub(b.summary.Start)
	b.End(b.summary)
}

// converge converges or plans a catalog as a part of the batch.
func (b *batchRun) converge(ctx context.Context, engine *converge.Engine, h *host.Host, c *catalog.Catalog) event.Summary {
	engine.Cause, engine.Removals = b.Store.Cause("", "", b.Root), b.Removals(c, false)
	p := b.recorder.process
	if err := b.Store.Conceal(engine); err != nil {
		p.Messages.Warn(err.Error()) // known secrets are masked anyway
	}
	reporters := []event.Reporter{event.ReporterFunc(b.number)}
	if b.Writer != nil {
		b.Writer.AddCatalog(c)
		engine.Cause = b.Writer.Cause
		engine.Journal, engine.PendingRefreshes = b.Writer, b.Writer.PendingRefreshes("", c)
		reporters = append(reporters, b.Writer)
	}
	engine.Reporters = append(reporters, engine.Reporters...)
	var sum event.Summary
	if b.Writer == nil {
		sum = engine.Plan(ctx, &h.View, c)
	} else {
		sum = engine.Run(ctx, h, c)
		if sum.Counts[event.Changed] > 0 {
			b.recorder.labelFilesOrWarn(ctx, h)
		}
		b.recorder.limitTimesOrWarn(ctx, h)
	}
	b.summary.Interrupted = b.summary.Interrupted || sum.Interrupted
	return sum
}

// number numbers the events of a batch consecutively.
func (b *batchRun) number(e *event.Event) {
	e.Index = b.summary.Total()
	b.summary.Add(e)
}
