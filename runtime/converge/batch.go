package converge

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A batch is files that are written together, because each belongs to a resource that
// changes nothing else (resource.PathConfined) and none of them has to do with another. They
// are written by a pool while the walk goes on, and committed at once ([host.Batch]),
// which takes about as long as it takes for one. Their resources, and those in between
// that had nothing to do, are reported after that, in their order.
//
// It makes 1,000 files 2.5 to 4 times as fast on a disk, and 1.6 times in memory.
type batch struct {
	files   *host.Batch
	first   int // index of the first resource
	entries []*stagedFile
	// unwritten is fewer than fileChunk of the entries, for the next job of the pool.
	unwritten []*stagedFile
	pool      *pool
}

// A stagedFile is the file of one resource in a batch.
type stagedFile struct {
	event    *Event
	provider resource.Binding
	decision resource.Decision
	host     *host.Host // that writes to the batch

	err  error // of writing it
	took time.Duration
	// hasStatus is set once the file is at its path and Status has returned state and
	// statusErr.
	hasStatus bool
	state     any
	statusErr error
}

// maxBatchSpan is how many resources are between the first and the last one of a
// batch at most.
const maxBatchSpan = 4096

// fileChunk is how many files one job of the pool has: to wake a goroutine on another
// processor takes about as long as to write a file. Half of a batch in memory is one job, and
// the other half is left to the walk.
const fileChunk = 20

// batchable reports whether the file of resource i may be written together with
// others: nothing is done between its change and the next resource.
func (w *walk) batchable(i int) bool {
	r := w.catalog.Resources[i]
	_, _, bounded := resource.BoundsOf(r.Spec)
	return bounded && !w.planning && w.mayWait(i)
}

// canBatch reports whether resource i can be decided about before the batch is
// committed.
func (w *walk) canBatch(i int) bool {
	path, looks, _ := resource.BoundsOf(w.catalog.Resources[i].Spec)
	if !looks || !w.batchable(i) || w.batchPaths.covers(path) || w.batch.files.AtLimit() || i-w.batch.first >= maxBatchSpan {
		return false
	}
	for _, d := range w.catalog.Deps[i] {
		if d.Index >= w.batch.first && w.outcomes[d.Index] != Stable {
			return false
		}
	}
	return true
}

// stage begins to write the file of a resource in the batch, and reports whether it has: the
// decision has to be to write one whole file, and that has to be possible together with
// others. It begins a batch if there is none, and commits the present one for any other
// decision.
func (w *walk) stage(ctx context.Context, provider resource.Binding, d resource.Decision, ev *Event) bool {
	if len(d.Effects) != 1 || d.Effects[0].Kind != host.Regular || d.Effects[0].Kept {
		w.commit(ctx)
		return false
	}
	b := w.batch
	if b == nil {
		if !w.batchable(ev.Index) {
			return false
		}
		b = &batch{files: w.host.Batch(), first: ev.Index, pool: newPool()}
		w.batch = b
	}
	path, _, _ := resource.BoundsOf(ev.Resource.Spec)
	w.batchPaths.addNew(path)
	x := &stagedFile{event: ev, provider: provider, decision: d, host: b.files.File()}
	if b.entries = append(b.entries, x); !b.files.Concurrent() || len(b.entries) == 1 {
		w.write(ctx, x)
	} else if b.unwritten = append(b.unwritten, x); len(b.unwritten) == fileChunk {
		w.writeMore(ctx)
	}
	w.mayHaveChanged = false // the file is not at its path yet; conclude tells the prefetcher
	return true
}

// writeMore has the pool write the files that are not written yet.
func (w *walk) writeMore(ctx context.Context) {
	list := w.batch.unwritten
	w.batch.unwritten = nil
	w.batch.pool.do(func() {
		for _, x := range list {
			w.write(ctx, x)
		}
	})
}

// write performs the actions of a resource in its batch. It is called from several
// goroutines.
func (w *walk) write(ctx context.Context, x *stagedFile) {
	began := w.view.Now()
	h := x.host.OnBehalfOf(x.event.Resource)
	if h.Log().Enabled(ctx, slog.LevelDebug) { // nothing else is said of a file
		h = hostFor(ctx, x.event, h)
	}
	_, x.err = w.perform(ctx, h, x.provider, x.decision, x.event)
	x.took = w.view.Now().Sub(began)
}

// commit gives the files of the batch, if there is one, their places, looks at them again, and
// reports all resources since the first of them.
func (w *walk) commit(ctx context.Context) {
	b := w.batch
	if b == nil {
		return
	}
	w.writeMore(ctx)
	w.batch = nil
	b.pool.wait()
	errs := b.errs()
	var placed []*stagedFile
	b.files.Commit(errs, func(n int) {
		x := b.entries[n]
		if _, looks, _ := resource.BoundsOf(x.event.Resource.Spec); looks {
			placed = append(placed, x)
		} else {
			x.askStatus(ctx, w.view) // before the next one has its place, at which it may look
		}
	})
	for list := range slices.Chunk(placed, fileChunk) {
		b.pool.do(func() {
			for _, x := range list {
				x.askStatus(ctx, w.view)
			}
		})
	}
	b.pool.wait()
	for n, err := range errs {
		w.conclude(ctx, b.entries[n], err)
	}
	w.batchPaths.clear()
	events := w.queue
	w.queue = nil
	w.report(events)
	w.since = w.view.Now()
}

// errs returns what was wrong with writing each file. If one has to be written by
// itself, so have all behind it: they might take up the room that it would have had in
// its turn.
func (b *batch) errs() []error {
	errs := make([]error, len(b.entries))
	var retry error
	for n, x := range b.entries {
		if errs[n] = x.err; x.err == nil {
			errs[n] = retry
		} else if retry == nil && host.IsRetryable(x.err) {
			retry = x.err
		}
	}
	return errs
}

// askStatus looks at a file that is at its path.
func (x *stagedFile) askStatus(ctx context.Context, v *host.View) {
	x.hasStatus = true
	x.state, x.statusErr = x.provider.Status(ctx, v, x.event.Resource.Spec)
}

// conclude tells what became of a file of a batch, from what askStatus has found. One that
// could not be written with the others is written by itself.
func (w *walk) conclude(ctx context.Context, x *stagedFile, err error) {
	ev, done := x.event, 0
	if ev.Took += x.took; host.IsRetryable(err) {
		h := w.host
		if host.IsConflict(err) {
			h = h.AfterConflict()
		}
		done, err = w.perform(ctx, hostFor(ctx, ev, h), x.provider, x.decision, ev)
	}
	switch {
	case err != nil:
		w.prefetcher.change(ev.Resource, false)
		ev.Err, ev.Actions = err, ev.Actions[:done]
		w.refreshes.cancelIfUnchanged(ctx, x.provider, x.decision, ev)
	case x.hasStatus:
		w.prefetcher.change(ev.Resource, true)
		w.judge(ev, x.state, x.statusErr)
	default: // it was written by itself just now
		w.prefetcher.change(ev.Resource, false)
		w.verify(ctx, x.provider, ev)
	}
	if ev.Err != nil {
		ev.Outcome = Failed
		w.recordOutcome(ev)
	}
}
