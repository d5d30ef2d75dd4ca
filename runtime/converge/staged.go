package converge

import (
	"context"
	"log/slog"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A staged is a resource whose file is in a batch.
type staged struct {
	event *Event
	f     resource.Factory
	d     resource.Decision
	host  *host.Host // that writes to the batch
	of    *writes

	err  error // of writing it
	took time.Duration
	// seen is set once it has its place and was looked at again, state and unseen are
	// what came of that.
	seen   bool
	state  any
	unseen error
}

// write performs the actions of a resource in its batch. It is called from several
// goroutines.
func (w *walk) write(ctx context.Context, x *staged) {
	began := w.view.Now()
	h := x.host.OnBehalfOf(x.event.Resource)
	if h.Log().Enabled(ctx, slog.LevelDebug) { // nothing else is said of a file
		h = w.actingFor(ctx, x.event, h)
	}
	_, x.err = w.perform(ctx, h, x.f, x.d, x.event)
	x.took = w.view.Now().Sub(began)
	x.of.written.Done()
}
