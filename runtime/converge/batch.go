package converge

import (
	"context"
	"sync"
	"sync/atomic"

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
	first   int // the number of the first resource
	staged  []*staged
	written sync.WaitGroup // all of staged

	// events are those of all resources up to the last one, errs what was wrong with
	// each file, once all are written. Placed is closed when they have their places.
	events []*Event
	errs   []error
	placed chan struct{}

	// again are those that have their places and are to be looked at again. Whoever has
	// nothing else to do takes some: there are as many as isPlaced, of which taken were
	// taken.
	again    []*staged
	isPlaced atomic.Int64
	taken    atomic.Int64
	looked   sync.WaitGroup // at all of again
}

const (
	// longestRow is how many resources are between the first and the last of which
	// the files are under way, at most, and how many files are written before all have
	// their places.
	longestRow = 4096
	// fewPlaces is how many files get their places together at least, while the walk
	// goes on, manyPlaces how many at most, unless it takes long to make them durable.
	fewPlaces  = 16
	manyPlaces = 128
)

// underWay reports whether files are being written, or given their places.
func (w *walk) underWay() bool { return w.writes != nil || w.placing != nil }

// batchable returns the path of a resource whose file may be written together with
// others: nothing is done between its change and the next resource.
func (w *walk) batchable(i int) (path string, ok bool) {
	r := w.catalog.Resources[i]
	path, _, ok = resource.BoundsOf(r.Spec)
	if !ok || w.planning() || w.Sequential || w.edits != nil || !w.goesOnAfter(r) ||
		r.Skip != "" || r.Resolve != nil || w.noop(r) || w.monitorOnly(r) || len(r.Common.HealthChecks) > 0 || r.Common.Timeout > 0 {
		return path, false
	}
	return path, true
}

// joins reports whether resource i can be dealt with while the files that are under
// way do not have their places yet.
func (w *walk) joins(i int) bool {
	path, ok := w.batchable(i)
	_, looks, _ := resource.BoundsOf(w.catalog.Resources[i].Spec)
	if !ok || !looks || w.underWayAt.meets(path) || w.underWayAt.count >= longestRow {
		return false
	}
	first := w.firstUnderWay()
	for _, d := range w.catalog.Deps[i] {
		if d.Index >= first && w.outcomes[d.Index] != Stable {
			return false
		}
	}
	return i-first < longestRow
}

// underWayBefore reports whether other files are under way than the last one of b.
func (w *walk) underWayBefore(b *writes) bool { return w.placing != nil || len(b.staged) > 1 }

// firstUnderWay returns the number of the first resource of which the file is under
// way.
func (w *walk) firstUnderWay() int {
	if w.placing != nil {
		return w.placing.first
	}
	return w.writes.first
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
		w.forgetPlaces()
	}
	for (host.Full() || w.isMuch()) && w.underWay() {
		if w.writes == nil {
			w.settlePlaces(ctx)
		}
		w.beginPlacing(ctx)
	}
	b := w.writes
	if b == nil {
		b = &writes{batch: w.host.Batch(&w.dirs), first: ev.Index, placed: make(chan struct{})}
		w.writes = b
	}
	path, _, _ := resource.BoundsOf(ev.Resource.Spec)
	w.underWayAt.note(path)
	x := &staged{event: ev, f: f, d: d, host: b.batch.File(), of: b}
	b.staged = append(b.staged, x)
	b.written.Add(1)
	switch {
	case !b.batch.Concurrent() || !w.underWayBefore(b):
		w.write(ctx, x)
	case w.crew == nil:
		w.crew = newCrew(func(x *staged) { w.write(ctx, x) }, func(b *writes) { w.putInPlace(ctx, b) })
		fallthrough
	default:
		w.crew.give(x, nil)
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
	w.beginPlacing(ctx)
	w.settlePlaces(ctx)
	w.forgetPlaces()
	events := w.held
	w.held = nil
	w.tell(events)
}

// forgetPlaces forgets where files were under way, once none are: directories may
// become others.
func (w *walk) forgetPlaces() {
	w.underWayAt.clear()
	w.dirs.Close()
}

// hold keeps what is to be told of a resource until it can be told of the ones before
// it. If there is enough to do, files get their places meanwhile.
func (w *walk) hold(ctx context.Context, events []*Event) {
	w.held = append(w.held, events...)
	if b := w.writes; b != nil && len(b.staged) >= fewPlaces && b.batch.Concurrent() && w.isIdle() {
		w.beginPlacing(ctx)
		w.since = w.view.Now()
	}
}

// isMuch reports whether so many files are written that it is time to give them their
// places.
func (w *walk) isMuch() bool {
	return w.writes != nil && len(w.writes.staged) >= manyPlaces && !w.slowSync
}
