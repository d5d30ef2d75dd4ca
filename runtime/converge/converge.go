// Package converge brings a machine to the state that a catalog describes. It is
// the engine, written once for all types: decide, perform, look again.
//
// [Engine.Plan] is handed only what looks, so it cannot change the machine;
// [Engine.Run] is handed what can change it. Both walk the catalog in the same
// way and decide with the same code.
package converge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// An Engine converges catalogs.
type Engine struct {
	Registry *resource.Registry
	Facts    *facts.Facts
	Reporter Reporter
	// Texts asks for the content before and after of files that change.
	Texts bool
	// Outputs asks for what commands said that were run (resource.SelfVerifier).
	Outputs bool
	// FailOnError skips everything after the first failure.
	FailOnError bool
	// MonitorOnly runs the health checks and nothing else.
	MonitorOnly bool
	// Sequential looks at every resource only when its turn has come, and writes
	// each file by itself. The outcome is the same; it takes longer.
	Sequential bool
	// Prefetcher has looked at resources since they were declared. The walk ends it. May be
	// nil.
	Prefetcher *Prefetcher
	// Prior has the outcomes of resources that another process has converged before the run.
	// The catalog has them, skipped, so that others can refer to them. They have no events and
	// are in no summary.
	Prior map[resource.ID]Outcome
	// PriorCauses has the causes of those of Prior that were changed.
	PriorCauses map[resource.ID]Cause
	// Journal records pending refreshes; nil for none. A run that changes nothing does not
	// write to it.
	Journal Journal
	// PendingRefreshes is the refreshes that earlier runs did not get to.
	PendingRefreshes []PendingRefresh
	// Cause compares a resource that is to be changed with the last applied catalog: whether
	// it was managed before, and with the same desired state. Desired is the digest that its
	// state has (resource.DesiredDigester), text returns the text of the digest where the
	// state leaves it out (resource.LazyDesired). May be nil.
	Cause func(r *resource.Resource, desired resource.DesiredDigest, text func() string) Cause
	// Recall returns the digest of the desired state of a resource when it was last in order,
	// the zero digest if there is none on record. It is for plans that compare the machine
	// with the past, for which the present content of sources and templates does not count.
	// May be nil.
	Recall func(r *resource.Resource) resource.DesiredDigest
	// Secrets are masked in events. May be nil.
	Secrets *secret.Keeper
	// SecretHistory is the properties and files that have held secrets; nil for none.
	SecretHistory SecretHistory
	// Stop, once closed, ends a run: the present resource is finished, the others are
	// skipped. May be nil.
	Stop <-chan struct{}
}

// Plan reports what Run would do. It cannot change the machine.
func (e *Engine) Plan(ctx context.Context, v *host.View, c *catalog.Catalog) Summary {
	return e.walk(ctx, v.Planning(ctx), nil, c)
}

// Run converges the machine.
func (e *Engine) Run(ctx context.Context, h *host.Host, c *catalog.Catalog) Summary {
	return e.walk(ctx, &h.View, h, c)
}

// walk takes the resources in order. It goes on after a failure, and skips what
// depends on one. Without h it is a plan.
func (e *Engine) walk(ctx context.Context, v *host.View, h *host.Host, c *catalog.Catalog) Summary {
	declared := c.Resources
	c = resolvable(c)
	w := &walk{
		Engine: e, view: v, host: h, catalog: c, declared: declared,
		outcomes: make([]Outcome, len(c.Resources)), blocks: make([]bool, len(c.Resources)), conditional: make([]bool, len(c.Resources)),
	}
	w.batchPaths.view = v
	w.redactor = newRedactor(e, c.Resources)
	w.prefetch = e.prefetch(ctx, v, c)
	defer w.prefetch.Stop()
	w.sum = Summary{Start: v.Now(), Noop: h == nil}
	w.owedRefreshes, w.sum.Dropped = w.groupRefreshes(e.PendingRefreshes)
	w.since = v.Now()
	for i, r := range c.Resources {
		if w.batch != nil && !w.canBatch(i) {
			w.commit(ctx)
		}
		if len(w.deferred) > 0 && !w.canDefer(i) {
			w.runDeferredChecks(ctx)
		}
		if o, ok := e.Prior[r.ID]; ok && r.Skip != "" {
			w.recordPrior(i, o)
			continue
		}
		w.mayHaveChanged = false
		w.beginEdits(ctx, i)
		events := w.finishEdit(ctx, w.resource(ctx, i))
		if w.mayHaveChanged {
			w.prefetch.change(r, false)
		}
		w.prefetch.leave(i)
		if w.batch != nil || len(w.deferred) > 0 {
			w.queue = append(w.queue, events...)
			continue
		}
		w.report(events)
	}
	w.commit(ctx)
	w.runDeferredChecks(ctx)
	w.sum.Interrupted = w.interrupted
	w.sum.Took = v.Now().Sub(w.sum.Start)
	return w.sum
}

// report passes events to the reporter and counts them.
func (w *walk) report(events []*Event) {
	for _, ev := range events {
		w.sum.Add(ev)
		w.redactor.event(ev)
		w.Reporter.Event(ev)
	}
}

// A walk is one pass over a catalog.
type walk struct {
	*Engine
	view    *host.View
	host    *host.Host // nil in a plan
	catalog *catalog.Catalog
	// declared is the resources of the catalog as they were declared: in catalog
	// they have the values that became known meanwhile.
	declared []*resource.Resource
	prefetch *Prefetcher
	sum      Summary // of the events that were reported

	// owedRefreshes is what earlier runs owe; it has nothing to do with the outcome Pending.
	owedRefreshes pendingRefreshes
	refreshes     map[int][]resource.ID // what a change of a resource refreshes; nil until it is needed
	causes        []Cause               // of the changes so far; nil for none

	since    time.Time // end of the last resource
	outcomes []Outcome
	blocks   []bool // failed, or skipped because of something that failed
	// hasPendingOutcome is set once something is pending or unknown.
	hasPendingOutcome bool
	// mayHaveChanged is set if the machine, or in a plan what is assumed of it, may have
	// been changed on behalf of the resource whose turn it is.
	mayHaveChanged bool
	// incompleteEffects is the pending resources of which a plan does not know all effects.
	incompleteEffects []incompleteEffect
	// managed has who manages a path; nil until that is needed.
	managed map[string][]manager
	// without is the resources that count as not there; nil but in behind.
	without map[any]bool
	// conditional is set for what comes after something unknown.
	conditional []bool
	// prospects is the answers of providers that foresee many resources at once.
	prospects map[int]resource.Prospect
	// installers is which of these bring a name along (resource.Prospect.Installs).
	installers map[string][]int
	// because is what resources are unknown because of, forecasts what would become
	// of them.
	because   map[int][]int
	forecasts map[int]Outcome
	// looks is what the resource whose turn it is has looked at, nil where that makes
	// no difference.
	looks           *host.Looks
	failing         bool           // Status or Decide has failed
	byName          map[string]int // the resources, for explainParent; nil until it is needed
	endReason       string         // why no further resource is worked on, or ""
	scopeEndReasons map[*resource.Scope]string
	interrupted     bool
	edits           *edits          // that are under way, or nil
	batch           *batch          // of files that are not committed, or nil
	batchPaths      changedPaths    // of these
	deferred        []deferredCheck // of resources that were acted on
	queue           []*Event        // to be reported after batch or deferred is done
	redactor        *redactor       // nil if there is nothing to redact
	single          [1]*Event       // of a resource that is no edit
}

// recordOutcome records the outcome of a resource, for those that come after it.
func (w *walk) recordOutcome(ev *Event) {
	w.outcomes[ev.Index] = ev.Outcome
	w.hasPendingOutcome = w.hasPendingOutcome || ev.Outcome == Pending || ev.Outcome == Unknown
	w.looks = nil
	w.recordForecast(ev)
	w.blocks[ev.Index] = ev.Outcome == Failed || len(ev.Unmet) > 0
	if ev.Outcome != Failed {
		return
	}
	if w.FailOnError {
		w.endReason = "fail_on_error is set and " + ev.Resource.ID.String() + " failed"
	}
	w.recordScopeFailure(ev.Resource)
}

// recordPrior records the outcome that a resource had before the run.
func (w *walk) recordPrior(i int, o Outcome) {
	w.outcomes[i], w.blocks[i] = o, o == Failed || o == Skipped
	w.recordCause(i, w.PriorCauses[w.catalog.Resources[i].ID])
	w.prefetch.leave(i)
}

func (w *walk) planning() bool { return w.host == nil }

// resource converges one resource, and returns its event.
func (w *walk) resource(ctx context.Context, i int) *Event {
	r := w.catalog.Resources[i]
	ev := &Event{Resource: r, Index: i, Noop: w.noop(r), Start: w.since}
	if limit := time.Duration(r.Common.Timeout); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w after %s", host.ErrTimeout, limit))
		defer cancel()
	}
	defer func() {
		w.explain(ctx, ev)
		w.since = w.view.Now()
		ev.Took = w.since.Sub(ev.Start)
	}()
	if w.skip(ctx, i, ev) || !w.resolve(ctx, ev) {
		return ev
	}
	r = ev.Resource
	f, err := w.prefetch.provider(r)
	if err != nil {
		ev.Outcome, ev.Err = Failed, err
		w.recordProviderFailure(ctx, ev, err)
		return ev
	}
	ev.Provider = f.Name
	if !w.monitorOnly(r) {
		w.recordConditions(i)
		w.converge(ctx, i, f, ev)
	}
	if !w.noop(r) && ev.Outcome != Failed {
		w.checkHealth(ctx, ev)
	}
	return ev
}

// explain adds to an event's error why its context has ended, and what is missing.
func (w *walk) explain(ctx context.Context, ev *Event) {
	ev.Err = withCause(ctx, ev.Err)
	if ev.Outcome == Failed && w.stopped(ctx) && errors.Is(ev.Err, context.Canceled) {
		w.interrupted, ev.Err = true, errors.New("interrupted")
	}
	w.explainParent(ev)
}

// skip reports whether the resource is skipped, and gives the event the reason.
func (w *walk) skip(ctx context.Context, i int, ev *Event) bool {
	ev.Outcome = Skipped
	if ev.Reason = ev.Resource.Skip; ev.Reason != "" {
		return true
	}
	if w.stopped(ctx) {
		w.interrupted, w.endReason = true, "the run was interrupted"
		if cause := context.Cause(ctx); cause != nil && cause != context.Canceled {
			w.endReason = cause.Error()
		}
	}
	if ev.Reason = w.endReason; ev.Reason != "" {
		return true
	}
	if ev.Reason = w.scopeEndReason(ev.Resource); ev.Reason != "" {
		return true
	}
	for _, d := range w.catalog.Deps[i] {
		if !w.blocks[d.Index] {
			continue
		}
		id := w.catalog.Resources[d.Index].ID
		if ev.Unmet = append(ev.Unmet, id); len(ev.Unmet) == 1 {
			ev.Reason = fmt.Sprintf("%s %s", id, map[bool]string{true: "failed", false: "was skipped"}[w.outcomes[d.Index] == Failed])
		}
	}
	if len(ev.Unmet) > 0 {
		w.recordUnmet(ev)
		return true
	}
	ev.Outcome = Stable
	return false
}

func (w *walk) stopped(ctx context.Context) bool {
	select {
	case <-w.Stop:
		return true
	default:
		return ctx.Err() != nil
	}
}
