package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/event"
)

// An openWork is work on consecutive resources that is concluded after several of them had their turn: files that are
// written together, a transaction, deferred checks, or edits of one file. A walk has at most one: no other work begins
// while one is open or concluded, and the resources since its first one are reported after it, in their order.
type openWork interface {
	// canWait reports whether the work may be concluded after resource i had its turn.
	canWait(w *walk, i int) bool
	// conclude does the rest of the work, and gives each event of its resources the final outcome.
	conclude(ctx context.Context, w *walk)
}

// underWay is the outcome of a resource that open work has not concluded. It is never reported.
const underWay = event.Outcome(len(event.Outcomes))

// concludeOpen concludes the open work, if there is any, and reports the resources since it began.
func (w *walk) concludeOpen(ctx context.Context) {
	o := w.open
	if o == nil {
		return
	}
	w.open, w.closed = nil, true
	o.conclude(ctx, w)
	w.closed = false
	if len(w.queue) > 0 {
		w.reportQueue()
		w.since = w.view.Now()
	}
}
