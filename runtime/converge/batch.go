package converge

import (
	"context"
	"log/slog"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// writes are the files that are being written together, because each belongs to a
// resource that changes nothing else (resource.Bounded) and none of them has to do
// with another. They are written while the walk goes on, and are made durable at
// once (host.Batch), which takes about as long as it takes for one. They get their
// places in the order of the resources. What is told of the resources is told after
// that, in their order, of those too that had nothing to do and came between.
type writes struct {
	batch  *host.Batch
	paths  trail
	first  int // the number of the first resource
	events []*Event
	staged []*staged
	pool   *stagers // nil if each file is written by the walk
}

// longestRow is how many resources are between the first and the last of a batch
// at most: until they have their turn, a file does not get its place.
const longestRow = 4096

// batchable returns the path of a resource whose file may be written together with
// others: nothing is done between its change and the next resource.
func (w *walk) batchable(i int) (path string, ok bool) {
	r := w.catalog.Resources[i]
	path, _, ok = resource.BoundsOf(r.Spec)
	if !ok || w.planning() || w.Sequential || w.FailOnError || w.edits != nil ||
		r.Skip != "" || r.Resolve != nil || w.noop(r) || w.monitorOnly(r) || len(r.Common.HealthChecks) > 0 || r.Common.Timeout > 0 {
		return path, false
	}
	for s := r.Scope; s != nil; s = s.Parent {
		if s.FailOnError {
			return path, false
		}
	}
	return path, true
}

// joins reports whether resource i can be dealt with while the files of the batch
// do not have their places yet.
func (w *walk) joins(i int) bool {
	b := w.writes
	if b.batch.Full() || i-b.first >= longestRow {
		return false
	}
	path, ok := w.batchable(i)
	_, looks, _ := resource.BoundsOf(w.catalog.Resources[i].Spec)
	if !ok || !looks || b.paths.meets(path) {
		return false
	}
	for _, d := range w.catalog.Deps[i] {
		if d.Index >= b.first && w.outcomes[d.Index] != Stable {
			return false
		}
	}
	return true
}

// stage begins to write the file of a resource, if that can be written together
// with others: d writes one whole file. Before anything else is done, the files of
// the batch get their places.
func (w *walk) stage(ctx context.Context, f resource.Factory, d resource.Decision, ev *Event) bool {
	if len(d.Leaves) != 1 || d.Leaves[0].Kind != host.Regular || d.Leaves[0].Kept {
		w.flush(ctx)
		return false
	}
	if w.writes == nil {
		if _, ok := w.batchable(ev.Index); !ok {
			return false
		}
		w.writes = &writes{batch: w.host.Batch(), first: ev.Index, paths: trail{view: w.view}}
	}
	b := w.writes
	path, _, _ := resource.BoundsOf(ev.Resource.Spec)
	b.paths.note(path)
	x := &staged{event: ev, f: f, d: d, host: b.batch.File()}
	b.staged = append(b.staged, x)
	switch {
	case !b.batch.Concurrent() || len(b.staged) == 1:
		w.write(ctx, x)
	case b.pool == nil:
		b.pool = newStagers(func(x *staged) { w.write(ctx, x) })
		fallthrough
	default:
		b.pool.give(x)
	}
	w.touched = false // yet
	return true
}

// flush gives the files of the batch, if there is one, their places, and tells of
// all resources since the first of them.
func (w *walk) flush(ctx context.Context) {
	b := w.writes
	if b == nil {
		return
	}
	w.writes = nil
	b.pool.end()
	errs := b.written()
	look := newLooker(b, func(x *staged) { w.verify(ctx, x.f, x.event) })
	errs = b.batch.Commit(errs, func(n int) { look.at(b.staged[n]) })
	look.end()
	for n, err := range errs {
		w.placed(ctx, b.staged[n], err)
	}
	w.tell(b.events)
}

// written returns what was wrong with each file. If one has to be written by itself,
// so have all behind it: they might take up the room that it would have had in its
// turn.
func (b *writes) written() []error {
	errs := make([]error, len(b.staged))
	var alone error
	for n, x := range b.staged {
		if errs[n] = x.err; x.err == nil {
			errs[n] = alone
		} else if alone == nil && host.MayDoAlone(x.err) {
			alone = x.err
		}
	}
	return errs
}

// placed notes what became of a file of a batch.
func (w *walk) placed(ctx context.Context, x *staged, err error) {
	ev, done := x.event, 0
	if ev.Took += x.took; host.MayDoAlone(err) {
		done, err = w.perform(ctx, w.actingFor(ctx, ev, w.host), x.f, x.d, ev)
	}
	switch {
	case err != nil:
		w.ahead.changed(ev.Resource)
		ev.Err, ev.Actions = err, ev.Actions[:done]
		w.forgive(ctx, x.f, x.d, ev)
	case x.seen:
		w.ahead.replaced(ev.Resource)
	default: // it was not there that it was written
		w.ahead.changed(ev.Resource)
		w.verify(ctx, x.f, ev)
	}
	if ev.Err != nil {
		ev.Outcome = Failed
		w.became(ev)
	}
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
}
