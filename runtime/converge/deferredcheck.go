package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A deferredCheck is a resource that was acted on and is verified later, because its state has to
// settle first (resource.SettleDelay). Resources in a row that do not depend on each other are
// all acted on before the first is verified, so that they share one delay.
type deferredCheck struct {
	event      *event.Event
	provider   resource.Binding
	hasRefresh bool // it was refreshed: finish the refreshes once it is verified
}

// deferredChecks are the deferred checks of one walk, in the order of their resources.
type deferredChecks []deferredCheck

// canWait reports whether the checks can run after resource i is converged. There has to be a
// check.
func (l deferredChecks) canWait(g *grouping, i int) bool {
	r := g.catalog.Resources[i]
	first := l[0].event
	return r.Type == first.Resource.Type && r.Skip == "" && r.Resolve == nil && g.mayDefer(i) && g.isIndependent(i, first.Index)
}

// last returns the check of an event if it was added last, nil otherwise.
func (l deferredChecks) last(ev *event.Event) *deferredCheck {
	if n := len(l); n > 0 && l[n-1].event == ev {
		return &l[n-1]
	}
	return nil
}

// runDeferredChecks verifies the deferred resources, and reports all resources since the first of
// them.
func (w *walk) runDeferredChecks(ctx context.Context) {
	if len(w.checks) == 0 {
		return
	}
	for _, x := range w.checks {
		w.amend(ctx, x.event, func(ev *event.Event) { w.verify(ctx, x.provider, ev) })
		if x.hasRefresh {
			w.refreshes.finish(x.event)
		}
	}
	events := w.queue
	w.checks, w.queue = nil, nil
	w.since = w.view.Now()
	w.report(events)
}
