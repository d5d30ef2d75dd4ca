package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A deferredCheck is a resource that was acted on and is verified later, because its state has to
// settle first (SettleTime of resource.Traits). Resources in a row that do not depend on each other are
// all acted on before the first is verified, so that they share one delay.
type deferredCheck struct {
	event    *event.Event
	provider resource.Binding
}

// deferredChecks are the deferred checks of one walk, in the order of their resources.
type deferredChecks []deferredCheck

// deferCheck has a resource verified later, together with those before it.
func (w *walk) deferCheck(ev *event.Event, provider resource.Binding) {
	l, _ := w.open.(deferredChecks)
	w.open = append(l, deferredCheck{event: ev, provider: provider})
	ev.Outcome = underWay
}

// canWait implements openWork.
func (l deferredChecks) canWait(w *walk, i int) bool {
	r := w.catalog.Resources[i]
	first := l[0].event
	return r.Type == first.Resource.Type && r.Skip == "" && r.Resolve == nil && w.grouping.mayDefer(i) &&
		w.grouping.isIndependent(i, first.Index)
}

// conclude verifies the deferred resources.
func (l deferredChecks) conclude(ctx context.Context, w *walk) {
	for _, x := range l {
		w.amend(ctx, x.event, func(ev *event.Event) { w.verify(ctx, x.provider, ev) })
	}
}
