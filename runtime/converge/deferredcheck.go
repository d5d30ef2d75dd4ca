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

// deferredChecks are those of one walk, in the order of their resources.
type deferredChecks []deferredCheck

// canWait reports whether the checks, of which there are some, can run after resource i is converged.
func (l deferredChecks) canWait(g *grouping, i int) bool {
	r := g.catalog.Resources[i]
	first := l[0].event
	return r.Type == first.Resource.Type && r.Skip == "" && r.Resolve == nil && g.mayDefer(i) && g.isIndependent(i, first.Index)
}

// last returns the entry of an event that was just added, nil if there is none.
func (l deferredChecks) last(ev *event.Event) *deferredCheck {
	if n := len(l); n > 0 && l[n-1].event == ev {
		return &l[n-1]
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
		ev.Duration += w.view.Now().Sub(began)
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
