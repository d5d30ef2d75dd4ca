package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/resource"
)

// converge decides about a resource and, in a run, does what is to be done.
func (w *walk) converge(ctx context.Context, i int, f *resource.Binding, ev *Event) {
	r := ev.Resource
	by, maybe := w.refreshers(i)
	left := w.owedRefreshes[r.ID]
	refresh := len(by)+len(left) > 0
	defer func() {
		if x := w.deferredCheckOf(ev); x != nil {
			x.hasRefresh = refresh
		} else if refresh {
			w.finishRefreshes(ev)
		}
	}()
	state, err := w.status(ctx, i, f)
	if err != nil {
		w.recordStatusFailure(ctx, f, ev, err)
		return
	}
	ev.Ensure = ensureOf(state)
	d := r.Type.Decide(r.Spec, state, refresh)
	if refresh {
		without := r.Type.Decide(r.Spec, state, false)
		ev.Refreshed = len(d.Actions) != len(without.Actions) || len(d.Actions) > 0 && d.Actions[0] != without.Actions[0]
		if ev.Refreshed {
			ev.RefreshedBy, ev.PendingRefreshes = by, left
		}
	}
	mayRefresh := len(maybe) > 0 && !ev.Refreshed && len(r.Type.Decide(r.Spec, state, true).Actions) > len(d.Actions)
	if brought := w.pendingInstallers(i); len(brought) > 0 && d.Err == nil {
		w.blameInstallers(ctx, f, ev, d, brought)
		return
	}
	switch {
	case d.Err != nil:
		ev.Diff = d.Diff
		w.recordStatusFailure(ctx, f, ev, d.Err)
		return
	case w.looks != nil && !(ev.Refreshed && resource.UncertainAfterPending(r.Spec)):
		if suspects := w.suspects(i, w.looks); len(suspects) > 0 {
			if len(d.Actions) > 0 { // what is to be done hangs on more
				_, _ = w.foresee(ctx, w.view.Recording(w.looks), i, f)
				suspects = w.suspects(i, w.looks)
			}
			if mayRefresh {
				suspects = mergeSuspects(w.refreshSuspects(i), suspects)
			}
			w.blame(ctx, f, ev, suspects)
			w.forecast(ctx, ev, d, false)
			if mayRefresh && d.Stable() {
				w.forecastRefresh(ctx, ev, r.Type.Decide(r.Spec, state, true))
			}
			return
		}
	}
	switch {
	case d.Stable() && mayRefresh:
		w.blame(ctx, f, ev, w.refreshSuspects(i))
		w.forecastRefresh(ctx, ev, r.Type.Decide(r.Spec, state, true))
		return
	case d.Stable():
		if resource.DependsOnData(r.Spec) { // its properties do not tell the desired state later
			ev.DesiredDigest = w.desiredDigest(ev, resource.DesiredDigestOf(state))
		}
		return
	case mayRefresh:
		ev.Reason = "it may be refreshed besides, because " + maybe[0].String() + " is unknown"
	}
	w.act(ctx, *f, d, state, ev)
}

// status returns the state of resource i, whose turn it is, compared with the present
// desired state or, with [Engine.Recall], with an earlier one.
func (w *walk) status(ctx context.Context, i int, f *resource.Binding) (any, error) {
	if w.Recall != nil {
		r := w.catalog.Resources[i]
		if state, ok, err := f.Recall(ctx, w.view, r.Spec, w.Recall(r)); ok {
			return state, err
		}
	}
	v, looks := w.record()
	w.looks = looks
	spec := w.catalog.Resources[i].Spec
	if looks == nil || len(w.incompleteEffects) == 0 && !w.view.IsDoubtful() && resource.MayPrefetch(spec) {
		return w.prefetch.status(ctx, v, i, f)
	}
	return f.Status(ctx, v, spec)
}

// refreshers returns the resources to which resource i subscribes and that have changed or
// would change, and those of which that is unknown.
func (w *walk) refreshers(i int) (by, maybe []resource.ID) {
	for _, d := range w.catalog.Deps[i] {
		if !d.Refresh {
			continue
		}
		switch id := w.catalog.Resources[d.Index].ID; {
		case w.refreshed(i, d.Index):
			by = append(by, id)
		case w.outcomes[d.Index] == Unknown:
			maybe = append(maybe, id)
		}
	}
	return by, maybe
}

// refreshed reports whether the outcome of resource by refreshes resource i, which
// subscribes to it.
func (w *walk) refreshed(i, by int) bool {
	o := w.outcomes[by]
	return o == Changed || o == Pending && w.noop(w.catalog.Resources[i]) // in a run, a pending change refreshes nothing
}
