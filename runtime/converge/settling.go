package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/resource"
)

// A settling is a resource that was acted on and of which it is not known yet
// whether that holds (resource.Settling). Those that follow one another and do not
// depend on each other are acted on first and waited for after that, so that it takes
// as long as for one of them.
type settling struct {
	event *Event
	f     resource.Factory
	owed  bool // a refresh is owed to it
}

// mayWait reports whether resource i may be looked at again after the next ones were
// acted on: nothing is done on its behalf between that and the next resource, and
// whether it fails does not decide whether these are dealt with.
func (w *walk) mayWait(i int) bool {
	r := w.catalog.Resources[i]
	return resource.HasToSettle(r.Spec) && !w.planning() && !w.Sequential && w.edits == nil && w.goesOnAfter(r) &&
		len(r.Common.HealthChecks) == 0 && r.Common.Timeout == 0
}

// goesOnAfter reports whether the walk goes on if r fails.
func (w *walk) goesOnAfter(r *resource.Resource) bool {
	if w.FailOnError {
		return false
	}
	for s := r.Scope; s != nil; s = s.Parent {
		if s.FailOnError {
			return false
		}
	}
	return true
}

// joinsSettling reports whether resource i can be dealt with before those that settle
// are looked at again.
func (w *walk) joinsSettling(i int) bool {
	r := w.catalog.Resources[i]
	first := w.settling[0].event
	if r.Type != first.Resource.Type || r.Skip != "" || r.Resolve != nil || !w.mayWait(i) {
		return false
	}
	for _, d := range w.catalog.Deps[i] {
		if d.Index >= first.Index && w.outcomes[d.Index] != Stable {
			return false
		}
	}
	return true
}

// settlingOf returns the entry of an event that was just added, nil if there is none.
func (w *walk) settlingOf(ev *Event) *settling {
	if n := len(w.settling); n > 0 && w.settling[n-1].event == ev {
		return &w.settling[n-1]
	}
	return nil
}

// awaitSettled looks again at the resources that settle, and tells of all since the
// first of them.
func (w *walk) awaitSettled(ctx context.Context) {
	if len(w.settling) == 0 {
		return
	}
	for _, x := range w.settling {
		ev, began := x.event, w.view.Now()
		w.verify(ctx, x.f, ev)
		ev.Took += w.view.Now().Sub(began)
		if ev.Err != nil {
			ev.Outcome = Failed
			w.explain(ctx, ev)
			w.became(ev)
		}
		if x.owed {
			w.settleDebts(ev)
		}
	}
	events := w.held
	w.settling, w.held = nil, nil
	w.since = w.view.Now()
	w.tell(events)
}
