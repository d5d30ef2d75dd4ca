package converge

import (
	"context"
	"errors"
	"fmt"

	"github.com/luaccm/ccm/runtime/resource"
)

// converge decides about a resource and, in a run, does what is to be done.
func (w *walk) converge(ctx context.Context, i int, f *resource.Factory, ev *Event) {
	r := ev.Resource
	by, maybe := w.refreshers(i)
	left := w.left[r.ID]
	refresh := len(by)+len(left) > 0
	defer func() {
		if x := w.settlingOf(ev); x != nil {
			x.owed = refresh
		} else if refresh {
			w.settleDebts(ev)
		}
	}()
	state, err := w.status(ctx, i, f)
	if err != nil {
		w.lookFailed(ev, err)
		return
	}
	ev.Ensure = ensureOf(state)
	d := r.Type.Decide(r.Spec, state, refresh)
	if refresh {
		without := r.Type.Decide(r.Spec, state, false)
		ev.Refreshed = len(d.Actions) != len(without.Actions) || len(d.Actions) > 0 && d.Actions[0] != without.Actions[0]
		if ev.Refreshed {
			ev.RefreshedBy, ev.LeftOver = by, left
		}
	}
	switch {
	case d.Err != nil:
		ev.Diff = d.Diff
		w.lookFailed(ev, d.Err)
		return
	case w.planning() && !ev.Refreshed && resource.UncertainAfterPending(r.Spec):
		if id, ok := w.pendingBefore(i); ok {
			w.unknown(ev, id.String()+" is pending")
			return
		}
	}
	mayRefresh := len(maybe) > 0 && !ev.Refreshed && len(r.Type.Decide(r.Spec, state, true).Actions) > len(d.Actions)
	switch {
	case d.Stable() && mayRefresh:
		w.unknown(ev, maybe[0].String()+" is unknown")
		return
	case d.Stable():
		if resource.SeesData(r.Spec) { // nobody could tell later what was wanted
			ev.Wish = w.wholeWish(ev, resource.WishOf(state))
		}
		return
	case mayRefresh:
		ev.Reason = "it may be refreshed besides, because " + maybe[0].String() + " is unknown"
	}
	w.act(ctx, *f, d, state, ev)
}

// status returns the state of resource i, whose turn it is: compared with what is
// wanted now or, if the walk recalls that, with what was wanted.
func (w *walk) status(ctx context.Context, i int, f *resource.Factory) (any, error) {
	if w.Recall != nil {
		r := w.catalog.Resources[i]
		if state, ok, err := f.Recall(ctx, w.view, r.Spec, w.Recall(r)); ok {
			return state, err
		}
	}
	return w.ahead.status(ctx, w.view, i, f)
}

// refreshers returns what has changed, or would, of that which r subscribes to,
// and what may.
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

// refreshed reports whether resource i, which subscribes to resource by, is refreshed
// by what became of that.
func (w *walk) refreshed(i, by int) bool {
	o := w.outcomes[by]
	return o == Changed || o == Pending && w.noop(w.catalog.Resources[i]) // what was not done refreshes nothing
}

// pendingBefore returns something pending or unknown that r comes after.
func (w *walk) pendingBefore(i int) (resource.ID, bool) {
	for _, d := range w.catalog.Deps[i] {
		if o := w.outcomes[d.Index]; o == Pending || o == Unknown {
			return w.catalog.Resources[d.Index].ID, true
		}
	}
	return resource.ID{}, false
}

// lookFailed records that the state of a resource cannot be told or cannot be
// changed. In a plan that may be for want of something that is pending.
func (w *walk) lookFailed(ev *Event, err error) {
	if w.noop(ev.Resource) {
		if u, ok := errors.AsType[*resource.UnknownError](err); ok {
			w.unknown(ev, u.Because)
			return
		}
		if w.opaque != nil {
			w.unknown(ev, fmt.Sprintf("%s is pending (now: %v)", w.opaque.ID, err))
			return
		}
	}
	ev.Outcome, ev.Err = Failed, err
}

// unknown records that the outcome cannot be known in a plan.
func (w *walk) unknown(ev *Event, because string) {
	ev.Outcome, ev.Reason = Unknown, because
	w.opaque = ev.Resource
}
