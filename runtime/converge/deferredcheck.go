package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A deferredCheck is a resource that was acted on and of which it is not known yet
// whether that holds (resource.SettleDelay). Those that follow one another and do not
// depend on each other are acted on first and waited for after that, so that it takes
// as long as for one of them.
type deferredCheck struct {
	event      *event.Event
	provider   resource.Binding
	hasRefresh bool // its refreshes are finished if it is in order
}

// mayDefer reports whether resource i may be verified after the next ones were acted on:
// nothing else is done for it before the next resource, and its failure would not end the
// walk.
func (w *walk) mayDefer(i int) bool {
	r := w.catalog.Resources[i]
	return resource.HasToSettle(r.Spec) && !w.planning && !w.Sequential && w.edits == nil && w.continuesAfter(r) &&
		r.Common.IsPlain()
}

// continuesAfter reports whether the walk goes on if r fails.
func (e *Engine) continuesAfter(r *resource.Resource) bool {
	if e.FailOnError {
		return false
	}
	for s := r.Scope; s != nil; s = s.Parent {
		if s.FailOnError {
			return false
		}
	}
	return true
}

// canDefer reports whether resource i can be converged before the deferred checks run.
func (w *walk) canDefer(i int) bool {
	r := w.catalog.Resources[i]
	first := w.deferred[0].event
	if r.Type != first.Resource.Type || r.Skip != "" || r.Resolve != nil || !w.mayDefer(i) {
		return false
	}
	for _, d := range w.catalog.Deps[i] {
		if d.Index >= first.Index && w.outcomes[d.Index] != event.Stable {
			return false
		}
	}
	return true
}

// deferredCheckOf returns the entry of an event that was just added, nil if there is none.
func deferredCheckOf(list []deferredCheck, ev *event.Event) *deferredCheck {
	if n := len(list); n > 0 && list[n-1].event == ev {
		return &list[n-1]
	}
	return nil
}

// runDeferredChecks verifies the deferred resources, and reports all since the first of
// them.
func (w *walk) runDeferredChecks(ctx context.Context) {
	if len(w.deferred) == 0 {
		return
	}
	for _, x := range w.deferred {
		ev, began := x.event, w.view.Now()
		w.verify(ctx, x.provider, ev)
		ev.Took += w.view.Now().Sub(began)
		if ev.Err != nil {
			ev.Outcome = event.Failed
			w.explain(ctx, ev)
			w.recordOutcome(ev)
		}
		if x.hasRefresh {
			w.refreshes.finish(ev)
		}
	}
	events := w.queue
	w.deferred, w.queue = nil, nil
	w.since = w.view.Now()
	w.report(events)
}
