package converge

import (
	"context"
	"log/slog"
	"sync"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// writes are files that are written together, because each belongs to a resource that
// changes nothing else (resource.Bounded) and none of them has to do with another. They
// are written while the walk goes on, and are made durable at once (host.Batch), which
// takes about as long as it takes for one. They get their places in the order of the
// resources, while the walk goes on with the next ones. What is told of the resources is
// told after that, in their order, of those too that had nothing to do and came between.
type writes struct {
	batch   *host.Batch
	paths   trail
	first   int // the number of the first resource
	staged  []*staged
	written sync.WaitGroup // all of staged

	// events are those of all resources up to the last one, errs what was wrong with
	// each file, once all are written. Placed is closed when they have their places.
	events []*Event
	errs   []error
	placed chan struct{}
}

const (
	// longestRow is how many resources are between the first and the last of which
	// the files are in writing, at most: until they have their turn, a file does not
	// get its place.
	longestRow = 4096
	// fewFiles is how many files get their places together at least, while the walk
	// goes on.
	fewFiles = 16
)

// underWay reports whether files are being written, or given their places.
func (w *walk) underWay() bool { return w.writes != nil || w.placing != nil }

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

// joins reports whether resource i can be dealt with while the files that are under
// way do not have their places yet.
func (w *walk) joins(i int) bool {
	path, ok := w.batchable(i)
	_, looks, _ := resource.BoundsOf(w.catalog.Resources[i].Spec)
	if !ok || !looks {
		return false
	}
	first := i
	for _, b := range []*writes{w.writes, w.placing} {
		if b != nil {
			if first = b.first; b.paths.meets(path) {
				return false
			}
		}
	}
	for _, d := range w.catalog.Deps[i] {
		if d.Index >= first && w.outcomes[d.Index] != Stable {
			return false
		}
	}
	return i-first < longestRow
}

// stage begins to write the file of a resource, if that can be written together
// with others: d writes one whole file. Before anything else is done, the files that
// are under way get their places.
func (w *walk) stage(ctx context.Context, f resource.Factory, d resource.Decision, ev *Event) bool {
	if len(d.Leaves) != 1 || d.Leaves[0].Kind != host.Regular || d.Leaves[0].Kept {
		w.flush(ctx)
		return false
	}
	if !w.underWay() {
		if _, ok := w.batchable(ev.Index); !ok {
			return false
		}
	}
	for host.Full() && w.underWay() {
		if w.writes == nil {
			w.settlePlaces(ctx)
		}
		w.place(ctx)
	}
	b := w.writes
	if b == nil {
		b = &writes{batch: w.host.Batch(), first: ev.Index, paths: trail{view: w.view}, placed: make(chan struct{})}
		w.writes = b
	}
	path, _, _ := resource.BoundsOf(ev.Resource.Spec)
	b.paths.note(path)
	x := &staged{event: ev, f: f, d: d, host: b.batch.File(), of: b}
	b.staged = append(b.staged, x)
	b.written.Add(1)
	if b.batch.Concurrent() && (w.placing != nil || len(b.staged) > 1) {
		w.stagers.give(ctx, w, x)
	} else {
		w.write(ctx, x)
	}
	w.touched = false // yet
	return true
}

// flush gives the files that are under way, if there are any, their places, and tells
// of all resources since the first of them.
func (w *walk) flush(ctx context.Context) {
	if !w.underWay() {
		return
	}
	w.place(ctx)
	w.settlePlaces(ctx)
	events := w.held
	w.held = nil
	w.tell(events)
}

// hold keeps what is to be told of a resource until it can be told of the ones before
// it. If there is enough to do, files get their places meanwhile.
func (w *walk) hold(ctx context.Context, events []*Event) {
	w.held = append(w.held, events...)
	if b := w.writes; b != nil && len(b.staged) >= fewFiles && b.batch.Concurrent() && w.isIdle() {
		w.place(ctx)
		w.since = w.view.Now()
	}
}

// isIdle reports whether no files are being given their places.
func (w *walk) isIdle() bool {
	if w.placing == nil {
		return true
	}
	select {
	case <-w.placing.placed:
		return true
	default:
		return false
	}
}

// place begins to give the files that are written their places, after those of the
// ones before have theirs.
func (w *walk) place(ctx context.Context) {
	b := w.writes
	if b == nil {
		return
	}
	w.writes = nil
	w.stagers.help(b)
	w.settlePlaces(ctx)
	b.events, w.held = w.held, nil
	var alone bool
	b.errs, alone = b.results()
	b.batch.Tell(b.errs)
	w.placing = b
	if alone || !b.batch.Concurrent() {
		w.putInPlace(ctx, b)
		w.settlePlaces(ctx)
	} else {
		go w.putInPlace(ctx, b)
	}
}

// putInPlace gives files their places, and looks at each again.
func (w *walk) putInPlace(ctx context.Context, b *writes) {
	view, end := w.view.Row()
	b.batch.Place(b.errs, func(n int) {
		x := b.staged[n]
		x.seen = true
		x.state, x.unseen = x.f.Status(ctx, view, x.event.Resource.Spec)
	})
	end()
	close(b.placed)
}

// settlePlaces waits until the files that are being given their places have them, and
// tells of their resources.
func (w *walk) settlePlaces(ctx context.Context) {
	b := w.placing
	if b == nil {
		return
	}
	<-b.placed
	w.placing = nil
	b.batch.End(b.errs)
	for n, err := range b.errs {
		w.placed(ctx, b.staged[n], err)
	}
	w.tell(b.events)
}

// results returns what was wrong with each file. If one has to be written by itself,
// so have all behind it: they might take up the room that it would have had in its
// turn.
func (b *writes) results() (errs []error, isAlone bool) {
	errs = make([]error, len(b.staged))
	var alone error
	for n, x := range b.staged {
		if errs[n] = x.err; x.err == nil {
			errs[n] = alone
		} else if alone == nil && host.MayDoAlone(x.err) {
			alone = x.err
		}
	}
	return errs, alone != nil
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
		w.judge(ev, x.state, x.unseen)
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
	x.of.written.Done()
}
