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

// A transaction is the same actions of consecutive resources, performed for all of them at once
// (resource.Bulk): a package manager takes about as long to install twenty packages as
// to install one. The walk goes on to decide about resources that may join, and commits the
// transaction before the first one that may not. In a plan a transaction only tells which
// resources a run would put together.
//
// Its resources, and the stable ones in between, are reported after the commit, each by its own
// event.
type transaction struct {
	first    int // index of the first resource
	provider resource.Binding
	members  []member
	// stable has the events of stable resources in between. The transaction may change their
	// state.
	stable []*event.Event
}

// A member is one resource of a transaction.
type member struct {
	event    *event.Event
	decision resource.Decision
}

// canWait implements openWork.
func (t *transaction) canWait(w *walk, i int) bool {
	return w.catalog.Resources[i].Type == t.provider.Type && w.grouping.mayWait(i) && w.grouping.isIndependent(i, t.first)
}

// joins reports whether a decision can join the transaction, which may be nil.
func (t *transaction) joins(provider *resource.Binding, ev *event.Event, d resource.Decision) bool {
	return t != nil && d.Err == nil && d.Uncertain == "" && !ev.Refreshed && provider.Same(t.provider) &&
		slices.EqualFunc(d.Actions, t.members[0].decision.Actions, func(a, b resource.Action) bool { return a.Verb == b.Verb }) &&
		t.provider.Together(t.members[0].event.Resource.Spec, ev.Resource.Spec)
}

// commitUnlessJoins commits the transaction if the event's resource can neither join it nor is
// stable. It reports whether to look at the resource again, because the transaction may have
// changed it.
func (w *walk) commitUnlessJoins(ctx context.Context, provider *resource.Binding, ev *event.Event, d resource.Decision, err error) bool {
	t, _ := w.open.(*transaction)
	if t == nil || provider.Same(t.provider) && err == nil && (d.Stable() || t.joins(provider, ev, d)) {
		return false
	}
	w.concludeOpen(ctx)
	ev.Start = w.since
	return !w.planning
}

// joinTransaction adds a decision to the transaction, or begins one with it, and reports whether
// it did. The caller has called commitUnlessJoins, so an open transaction fits.
func (w *walk) joinTransaction(provider resource.Binding, d resource.Decision, ev *event.Event) bool {
	t, _ := w.open.(*transaction)
	if t == nil {
		r := ev.Resource
		if w.open != nil || d.Uncertain != "" || ev.Refreshed || !w.grouping.mayWait(ev.Index) || !provider.Together(r.Spec, r.Spec) {
			return false
		}
		t = &transaction{first: ev.Index, provider: provider}
		w.open = t
	}
	t.members = append(t.members, member{ev, d})
	w.mayHaveChanged = w.planning // in a run, performTransaction informs the prefetcher
	return true
}

// noteStable notes a stable resource while a transaction is open. T may be nil.
func (t *transaction) noteStable(ev *event.Event) {
	if t != nil {
		t.stable = append(t.stable, ev)
	}
}

// conclude performs the transaction, and looks at its resources again.
func (t *transaction) conclude(ctx context.Context, w *walk) {
	if !w.planning {
		w.performTransaction(ctx, t)
		w.reconsider(ctx, t)
	}
}

// performTransaction performs the actions for all members together. If that fails, it performs
// them for each member that still needs them, so that the right one fails; but a
// [resource.DoneError] fails them all. Each member gets an equal part of the time.
func (w *walk) performTransaction(ctx context.Context, t *transaction) {
	defer w.noteChange(w.catalog.Resources[t.first], false)
	if w.stopped(ctx) {
		w.interrupted = true
		for _, m := range t.members {
			w.skipMember(m)
		}
		return
	}
	if len(t.members) == 1 {
		w.amend(ctx, t.members[0].event, func(ev *event.Event) { w.performAlone(ctx, t.provider, t.members[0].decision, ev) })
		return
	}
	began := w.view.Now()
	desired := withDesired(ctx, w.forecaster, t.provider)
	list := make([]*event.Event, len(t.members))
	for i, m := range t.members {
		list[i] = m.event
	}
	err := w.noteCompanions(ctx, t.provider, t.members[0].decision, list, func() error { return t.performTogether(desired, w.host) })
	if err != nil {
		w.host.Log().Debug(fmt.Sprintf("%d resources cannot be handled together, handling each separately", len(t.members)), "error", err.Error())
	}
	took := w.view.Now().Sub(began) / time.Duration(len(t.members))
	for _, m := range t.members {
		m.event.Duration += took
	}
	if _, done := errors.AsType[*resource.DoneError](err); done {
		for _, m := range t.members {
			w.amend(ctx, m.event, func(ev *event.Event) {
				ev.Err, ev.Actions = err, m.decision.Actions
				w.refreshes.cancelIfUnchanged(ctx, t.provider, m.decision.Diff, ev)
			})
		}
		return
	}
	if err == nil {
		states, errs := statesOf(ctx, w.view, t.provider, list)
		for i, ev := range list {
			w.amend(ctx, ev, func(ev *event.Event) { w.judge(ev, states[i], errs[i]) })
		}
		return
	}
	for _, m := range t.members {
		w.amend(ctx, m.event, func(ev *event.Event) {
			state, err := t.provider.Status(ctx, w.view, ev.Resource.Spec) // an earlier member may have brought it in order
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

// decide returns the decision about a state, or the error of the look.
func decide(ev *event.Event, state any, err error) resource.Decision {
	if err != nil {
		return resource.Decision{Err: err}
	}
	return ev.Resource.Type.Decide(ev.Resource.Spec, state, false)
}

// amend calls do, which completes the event of a resource whose outcome was noted already, and
// notes the outcome again.
func (w *walk) amend(ctx context.Context, ev *event.Event, do func(ev *event.Event)) {
	began := w.view.Now()
	if do(ev); ev.Err != nil {
		ev.Outcome = event.Failed
		w.explain(ctx, ev)
	}
	ev.Duration += w.view.Now().Sub(began)
	w.refreshes.finish(ev)
	w.noteOutcome(ev)
}

// skipMember skips a member because the run was interrupted before the transaction.
func (w *walk) skipMember(m member) {
	ev := m.event
	ev.Outcome, ev.Reason, ev.Actions, ev.Diff, ev.Cause = event.Skipped, "the run was interrupted", nil, nil, event.NoCause
	w.refreshes.cancel(ev.Resource.ID)
	w.noteOutcome(ev)
}

// reconsider looks again at the resources that were stable before the transaction, and converges
// those that differ now.
func (w *walk) reconsider(ctx context.Context, t *transaction) {
	if len(t.stable) == 0 || w.stopped(ctx) {
		return
	}
	states, errs := statesOf(ctx, w.view, t.provider, t.stable)
	for i, ev := range t.stable {
		if d := decide(ev, states[i], errs[i]); !d.Stable() {
			w.amend(ctx, ev, func(ev *event.Event) { w.decideAndAct(ctx, ev.Index, &t.provider, ev) })
			w.noteChange(ev.Resource, false)
		}
	}
}
