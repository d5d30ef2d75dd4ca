package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Journal records refreshes until they were performed, even if the run ends in between.
type Journal interface {
	// AddRefreshes records durably that a change of resource by refreshes others. It is called
	// before the change; if it fails, by is not changed.
	AddRefreshes(by resource.ID, cause event.Cause, to []resource.ID) error
	// CancelRefreshes removes the refreshes that this run added for resource by, which was not
	// changed after all.
	CancelRefreshes(by resource.ID)
	// FinishRefreshes removes all refreshes of resource to, which was refreshed or needs no
	// refresh.
	FinishRefreshes(to resource.ID)
	// DropRefresh removes a refresh of a resource that is no longer declared.
	DropRefresh(d event.PendingRefresh)
	// RecordRemoval records durably how to make a thing again. It is called before resource r is
	// removed; if it fails, r is not removed.
	RecordRemoval(r *resource.Resource, how []resource.Declaration) error
}

// pendingRefreshes are the refreshes of earlier runs, by the resource to refresh.
type pendingRefreshes map[resource.ID][]event.PendingRefresh

// A refreshTracker knows which refreshes are due, and why.
type refreshTracker struct {
	*walkState
	journal Journal // Engine.Journal; nil in a plan
	// earlier is the refreshes of earlier runs. It has nothing to do with the outcome Pending.
	earlier pendingRefreshes
	targets map[int][]resource.ID // the resources that a change of each resource refreshes; nil until needed
	causes  []event.Cause         // of the changes so far; nil for none
}

// load takes the pending refreshes of earlier runs. It returns, and in a run removes from the
// journal, the refreshes of resources that are no longer declared.
func (t *refreshTracker) load(list []event.PendingRefresh) (dropped []event.PendingRefresh) {
	if len(list) == 0 {
		return nil
	}
	there := make(map[resource.ID]bool, len(t.catalog.Resources))
	for _, r := range t.catalog.Resources {
		there[r.ID] = true
	}
	t.earlier = make(pendingRefreshes)
	for _, d := range list {
		switch {
		case there[d.To]:
			t.earlier[d.To] = append(t.earlier[d.To], d)
		case !slices.ContainsFunc(t.catalog.Excluded, func(l catalog.ExcludedResource) bool { return l.ID == d.To }):
			dropped = append(dropped, d)
			if t.journal != nil {
				t.journal.DropRefresh(d)
			}
		}
	}
	return dropped
}

// add records in the journal the refreshes that a change of resource i causes.
func (t *refreshTracker) add(i int, cause event.Cause) error {
	if t.journal == nil {
		return nil
	}
	if t.targets == nil {
		t.targets = refreshes(t.catalog)
	}
	if to := t.targets[i]; len(to) > 0 {
		return t.journal.AddRefreshes(t.catalog.Resources[i].ID, cause, to)
	}
	return nil
}

// refreshes returns the resources that a change of each resource refreshes, also those that were
// excluded from this catalog.
func refreshes(c *catalog.Catalog) map[int][]resource.ID {
	out := make(map[int][]resource.ID)
	for i, deps := range c.Deps {
		for _, d := range deps {
			if d.Refresh {
				out[d.Index] = append(out[d.Index], c.Resources[i].ID)
			}
		}
	}
	for _, l := range c.Excluded {
		for _, by := range l.RefreshedBy {
			out[by] = append(out[by], l.ID)
		}
	}
	return out
}

// cancel removes the refreshes that resource by would have caused: it was not changed after all.
func (t *refreshTracker) cancel(by resource.ID) {
	if t.journal != nil {
		t.journal.CancelRefreshes(by)
	}
}

// finish removes the refreshes of the event's resource, if it had any and is in order.
func (t *refreshTracker) finish(ev *event.Event) {
	if t.journal == nil || ev.Outcome != event.Stable && ev.Outcome != event.Changed {
		return
	}
	if by, _ := t.refreshers(ev.Index); len(by)+len(t.earlier[ev.Resource.ID]) > 0 {
		t.journal.FinishRefreshes(ev.Resource.ID)
	}
}

// cancelIfUnchanged cancels the refreshes of a failed change that has changed nothing: the
// resource still has the differences diff. If that cannot be found out, the refreshes stay.
func (t *refreshTracker) cancelIfUnchanged(ctx context.Context, provider resource.Binding, diff []resource.Delta, ev *event.Event) {
	r := ev.Resource
	if len(t.targets[ev.Index]) == 0 || len(diff) == 0 || resource.TraitsOf(r.Spec).VerifiesItself {
		return
	}
	state, err := provider.Status(ctx, t.view, r.Spec)
	if err != nil {
		return
	}
	if now := r.Type.Decide(r.Spec, state, false); now.Err == nil && slices.Equal(now.Diff, diff) {
		t.cancel(r.ID)
	}
}

// causeOf returns why the event's resource, whose state is given, is to be changed.
func (w *walk) causeOf(ctx context.Context, ev *event.Event, state any) event.Cause {
	if w.Cause == nil {
		return event.NoCause
	}
	r := ev.Resource
	c := w.Cause(w.declaredResources[ev.Index], ev.DesiredDigest, func() string {
		text, _ := r.Type.DesiredText(ctx, w.view, r.Spec, state) // without the text the cause cannot be told
		return text
	})
	switch {
	case c == event.New:
	case ev.Refreshed && len(ev.Diff) == 0:
		return w.refreshes.causeOfRefresh(ev)
	case c == event.Corrective && resource.TraitsOf(ev.Resource.Spec).ActsAlways:
		return event.NoCause // neither the site nor the machine has changed
	}
	return c
}

// noteCause keeps the cause of the change of resource i.
func (t *refreshTracker) noteCause(i int, c event.Cause) {
	if c == event.NoCause {
		return
	}
	if t.causes == nil {
		t.causes = make([]event.Cause, len(t.catalog.Resources))
	}
	t.causes[i] = c
}

// causeOfRefresh returns the cause of a refresh: corrective if all changes that caused the
// refresh were corrective.
func (t *refreshTracker) causeOfRefresh(ev *event.Event) event.Cause {
	for _, d := range t.catalog.Deps[ev.Index] {
		if d.Refresh && t.refreshed(ev.Index, d.Index) && (t.causes == nil || t.causes[d.Index] != event.Corrective) {
			return event.Intended
		}
	}
	for _, d := range ev.PendingRefreshes {
		if d.Cause != event.Corrective {
			return event.Intended
		}
	}
	return event.Corrective
}
