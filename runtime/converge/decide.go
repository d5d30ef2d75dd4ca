package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/forecast"
	"github.com/luaccm/ccm/runtime/resource"
)

// decideAndAct looks at a resource, decides, and in a run performs the decision by act. The event
// gets the outcome.
func (w *walk) decideAndAct(ctx context.Context, i int, provider *resource.Binding, ev *event.Event) {
	r := ev.Resource
	if want, ok := r.Spec.(resource.EnsureReporter); ok && resource.IsAbsent(want.WantedEnsure()) {
		ctx = w.Removals.With(ctx, r)
	}
	by, maybe := w.refreshes.refreshers(i)
	pending := w.refreshes.earlier[r.ID]
	refresh := len(by)+len(pending) > 0
	defer func() { w.refreshes.finish(ev) }()
	state, d, err := w.look(ctx, i, provider, ev, refresh)
	if w.commitUnlessJoins(ctx, provider, ev, d, err) {
		state, d, err = w.look(ctx, i, provider, ev, refresh)
	}
	if err != nil {
		w.forecaster.RecordStatusError(ctx, provider, ev, err)
		return
	}
	ev.Ensure = ensureOf(state)
	if refresh {
		without := r.Type.Decide(r.Spec, state, false)
		ev.Refreshed = !slices.Equal(d.Actions, without.Actions)
		if ev.Refreshed {
			ev.RefreshedBy, ev.PendingRefreshes = by, pending
		}
		if d.DroppedRefresh != "" {
			w.view.Log().Info("refresh dropped: "+d.DroppedRefresh, "resource", r.ID.String())
		}
	}
	found := forecast.Finding{Decision: d, Joins: i}
	if len(maybe) > 0 && !ev.Refreshed {
		if with := r.Type.Decide(r.Spec, state, true); len(with.Actions) > len(d.Actions) {
			found.Refresh = &with
		}
	}
	t, _ := w.open.(*transaction)
	if t.joins(provider, ev, d) {
		found.Joins = t.first
	}
	if w.forecaster.CloseIfUncertain(ctx, provider, ev, found) {
		return
	}
	if d.Stable() {
		t.noteStable(ev)
		if resource.TraitsOf(r.Spec).DependsOnData { // its properties alone do not tell a later run what was desired
			ev.DesiredDigest = desiredDigest(w.declaredResources[ev.Index], ev, resource.DesiredDigestOf(state))
		}
		return
	}
	if found.Refresh != nil {
		ev.Reason = "may also be refreshed, because " + maybe[0].String() + " is unknown"
	}
	w.act(ctx, *provider, d, state, ev)
}

// look returns the state of a resource and the decision about it.
func (w *walk) look(ctx context.Context, i int, provider *resource.Binding, ev *event.Event, refresh bool) (any, resource.Decision, error) {
	state, err := w.statusWithRetries(ctx, i, provider, ev)
	if err != nil {
		return nil, resource.Decision{}, err
	}
	return state, ev.Resource.Type.Decide(ev.Resource.Spec, state, refresh), nil
}

// statusWithRetries calls status. In a run it tries again after a failure, as often as the
// resource wants.
func (w *walk) statusWithRetries(ctx context.Context, i int, provider *resource.Binding, ev *event.Event) (state any, err error) {
	if ev.Resource.Common.Tries == nil || w.noop(ev.Resource) {
		return w.status(ctx, i, provider)
	}
	err = w.try(ctx, hostFor(ctx, ev, w.host), ev, func() (err error) {
		state, err = w.status(ctx, i, provider)
		return err
	})
	return state, err
}

// status returns the state of resource i, whose turn it is. The state is compared with the
// present desired state or, with [Engine.Recall], with an earlier one. A prefetched state is used
// if no pending resource can make a difference to it.
func (w *walk) status(ctx context.Context, i int, provider *resource.Binding) (any, error) {
	if w.Recall != nil {
		r := w.catalog.Resources[i]
		if resource.TraitsOf(r.Spec).MayPrefetch && w.forecaster.IsCertain(r.Spec) {
			if state, ok, err := w.prefetcher.Result(ctx, w.view, i, provider); ok {
				return state, err
			}
		}
		if state, ok, err := provider.Recall(ctx, w.forecaster.WithoutImagined(w.view, r.Spec), r.Spec, w.Recall(r)); ok {
			return state, err
		}
	}
	v := w.forecaster.Recording(w.view)
	spec := w.catalog.Resources[i].Spec
	if w.forecaster.PrefetchedCounts(spec) {
		if state, ok, err := w.prefetcher.Result(ctx, v, i, provider); ok {
			return state, err
		}
	}
	return provider.Status(ctx, v, spec)
}

// refreshers returns the resources that refresh resource i: by has those that changed or would
// change, maybe those whose outcome is unknown.
func (t *refreshTracker) refreshers(i int) (by, maybe []resource.ID) {
	for _, d := range t.catalog.Deps[i] {
		if !d.Refresh {
			continue
		}
		switch id := t.catalog.Resources[d.Index].ID; {
		case t.refreshed(i, d.Index):
			by = append(by, id)
		case t.outcomes[d.Index] == event.Unknown && t.catalog.Resources[i].ConcernedBy(t.catalog.Resources[d.Index]):
			maybe = append(maybe, id)
		}
	}
	return by, maybe
}

// refreshed reports whether the outcome of resource source refreshes its subscriber, resource i.
func (t *refreshTracker) refreshed(i, source int) bool {
	o := t.outcomes[source]
	r := t.catalog.Resources[i]
	return o == event.Changed || o == event.Pending && t.noop(r) && r.ConcernedBy(t.catalog.Resources[source]) // in a run, a pending change refreshes nothing
}
