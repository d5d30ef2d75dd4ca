package converge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A transaction is the same actions of consecutive resources, performed for all of them at
// once (resource.BulkPerformer): a package manager takes about as long to install twenty
// packages as to install one. The walk goes on to decide about the next resources while they
// may join, and commits the transaction before the first that may not. In a plan it only
// tells which resources a run would put together.
//
// Its resources, and those in between that had nothing to do, are reported after it, each by
// its own event.
type transaction struct {
	first    int // index of the first resource
	provider resource.Binding
	members  []member
	// stable are the events of resources in between that were stable. What the transaction
	// does may change that.
	stable []*event.Event
}

// A member is one resource of a transaction.
type member struct {
	event    *event.Event
	decision resource.Decision
}

// canWait reports whether the transaction can be committed after resource i is decided about.
func (t *transaction) canWait(g *grouping, i int) bool {
	return g.catalog.Resources[i].Type == t.provider.Type && g.mayWait(i) && g.isIndependent(i, t.first)
}

// joins reports whether a decision is one of the transaction, of which there may be none.
func (t *transaction) joins(provider *resource.Binding, ev *event.Event, d resource.Decision) bool {
	return t != nil && d.Err == nil && d.Uncertain == "" && !ev.Refreshed && provider.Same(t.provider) &&
		slices.EqualFunc(d.Actions, t.members[0].decision.Actions, func(a, b resource.Action) bool { return a.Verb == b.Verb }) &&
		t.provider.Type.Together(t.members[0].event.Resource.Spec, ev.Resource.Spec)
}

// interruptTransaction commits the transaction if what was found of the event's resource
// neither joins it nor leaves the machine alone. It reports whether the resource is to be
// looked at again, because the transaction may have changed it.
func (w *walk) interruptTransaction(ctx context.Context, provider *resource.Binding, ev *event.Event, d resource.Decision, err error) bool {
	t := w.transaction
	if t == nil || provider.Same(t.provider) && err == nil && (d.Stable() || t.joins(provider, ev, d)) {
		return false
	}
	w.commitTransaction(ctx)
	ev.Start = w.since
	return !w.planning
}

// joinTransaction adds a decision to the transaction, or begins one with it, and reports
// whether it has. It is decided already that one which does not join has ended it.
func (w *walk) joinTransaction(provider resource.Binding, d resource.Decision, ev *event.Event) bool {
	if w.transaction == nil {
		r := ev.Resource
		if w.alone || w.isWriting() || len(w.deferred) > 0 || d.Uncertain != "" || ev.Refreshed || !w.grouping.mayWait(ev.Index) || !r.Type.Together(r.Spec, r.Spec) {
			return false
		}
		w.transaction = &transaction{first: ev.Index, provider: provider}
	}
	w.transaction.members = append(w.transaction.members, member{ev, d})
	w.mayHaveChanged = w.planning // in a run, commitTransaction tells the prefetcher
	return true
}

// pass notes a resource that had nothing to do while a transaction, if there is one, is open.
func (t *transaction) pass(ev *event.Event) {
	if t != nil {
		t.stable = append(t.stable, ev)
	}
}

// commitTransaction performs the transaction, if there is one, looks at its resources again,
// and reports all resources since the first of them.
func (w *walk) commitTransaction(ctx context.Context) {
	t := w.transaction
	if t == nil {
		return
	}
	w.transaction = nil
	if w.planning {
		return
	}
	w.performTransaction(ctx, t)
	w.reconsider(ctx, t)
	events := w.queue
	w.queue = nil
	w.report(events)
	w.since = w.view.Now()
}

// performTransaction performs the actions for all members together and, if that fails, for
// each of them that needs it still, so that the right one fails. A [resource.DoneError] is the
// failure of all of them. The time is that of all, in
// equal parts.
func (w *walk) performTransaction(ctx context.Context, t *transaction) {
	defer w.prefetcher.Change(w.catalog.Resources[t.first], false)
	if w.stopped(ctx) {
		w.interrupted = true
		for _, m := range t.members {
			w.skipMember(m)
		}
		return
	}
	if len(t.members) == 1 {
		w.finish(ctx, t.members[0].event, func(ev *event.Event) { w.performAlone(ctx, t.provider, t.members[0].decision, ev) })
		return
	}
	began := w.view.Now()
	list := make([]*event.Event, len(t.members))
	for i, m := range t.members {
		list[i] = m.event
	}
	err := w.noteCompanions(ctx, t.provider, t.members[0].decision, list, func() error { return t.performTogether(ctx, w.host) })
	if err != nil {
		w.host.Log().Info(fmt.Sprintf("%d resources could not be handled together: each is handled by itself", len(t.members)), "error", err.Error())
	}
	took := w.view.Now().Sub(began) / time.Duration(len(t.members))
	for _, m := range t.members {
		m.event.Duration += took
	}
	if _, done := errors.AsType[*resource.DoneError](err); done {
		for _, m := range t.members {
			w.finish(ctx, m.event, func(ev *event.Event) {
				ev.Err, ev.Actions = err, m.decision.Actions
				w.refreshes.cancelIfUnchanged(ctx, t.provider, m.decision, ev)
			})
		}
		return
	}
	if err == nil {
		states, errs := statesOf(ctx, w.view, t.provider, list)
		for i, ev := range list {
			w.finish(ctx, ev, func(ev *event.Event) { w.judge(ev, states[i], errs[i]) })
		}
		return
	}
	for _, m := range t.members {
		w.finish(ctx, m.event, func(ev *event.Event) {
			state, err := t.provider.Status(ctx, w.view, ev.Resource.Spec) // those before may have brought it in order
			if d := decide(ev, state, err); len(d.Actions) > 0 {
				w.performAlone(ctx, t.provider, d, ev)
			} else {
				w.judge(ev, state, err)
			}
		})
	}
}

// performTogether performs the actions of the members in one go.
func (t *transaction) performTogether(ctx context.Context, h *host.Host) error {
	specs := make([]any, len(t.members))
	for i, m := range t.members {
		specs[i] = m.event.Resource.Spec
	}
	h = hostFor(ctx, t.members[0].event, h)
	for _, a := range t.members[0].decision.Actions {
		if err := t.provider.PerformAll(ctx, h, specs, a); err != nil {
			return err
		}
	}
	return nil
}

// statesOf looks at the resources of events.
func statesOf(ctx context.Context, v *host.View, provider resource.Binding, list []*event.Event) (states []any, errs []error) {
	specs := make([]any, len(list))
	for i, ev := range list {
		specs[i] = ev.Resource.Spec
	}
	if provider.HasBulkStatus() {
		return provider.StatusAll(ctx, v, specs)
	}
	for _, spec := range specs {
		state, err := provider.Status(ctx, v, spec)
		states, errs = append(states, state), append(errs, err)
	}
	return states, errs
}

// decide decides about what a look has found.
func decide(ev *event.Event, state any, err error) resource.Decision {
	if err != nil {
		return resource.Decision{Err: err}
	}
	return ev.Resource.Type.Decide(ev.Resource.Spec, state, false)
}

// finish calls do, which completes an event that was recorded before, and corrects the record.
func (w *walk) finish(ctx context.Context, ev *event.Event, do func(ev *event.Event)) {
	began := w.view.Now()
	if do(ev); ev.Err != nil {
		ev.Outcome = event.Failed
		w.explain(ctx, ev)
	}
	ev.Duration += w.view.Now().Sub(began)
	w.recordOutcome(ev)
}

// skipMember skips a resource because the run was interrupted before its transaction.
func (w *walk) skipMember(m member) {
	ev := m.event
	ev.Outcome, ev.Reason, ev.Actions, ev.Diff, ev.Cause = event.Skipped, "the run was interrupted", nil, nil, event.NoCause
	w.refreshes.cancel(ev.Resource.ID)
	w.recordOutcome(ev)
}

// reconsider looks again at resources that were stable before the transaction, and converges
// those that are so no more.
func (w *walk) reconsider(ctx context.Context, t *transaction) {
	if len(t.stable) == 0 || w.stopped(ctx) {
		return
	}
	states, errs := statesOf(ctx, w.view, t.provider, t.stable)
	w.alone = true
	defer func() { w.alone = false }()
	for i, ev := range t.stable {
		if d := decide(ev, states[i], errs[i]); !d.Stable() {
			w.finish(ctx, ev, func(ev *event.Event) { w.decideAndAct(ctx, ev.Index, &t.provider, ev) })
			w.prefetcher.Change(ev.Resource, false)
		}
	}
}
