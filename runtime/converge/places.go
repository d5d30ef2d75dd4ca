package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// beginPlacing begins to give the files of w.writes their places, once those before have
// theirs. It waits for that, but only where a file has to be written by itself does it
// wait for the places of these.
func (w *walk) beginPlacing(ctx context.Context) {
	b := w.writes
	if b == nil {
		return
	}
	w.writes = nil
	if w.crew != nil {
		w.crew.helpWrite()
	}
	b.written.Wait()
	b.events, w.held = w.held, nil
	before := w.awaitPlaces(ctx)
	alone := before.alone()
	b.errs = b.results(alone)
	if alone != nil { // the files of b might take up the room that is needed
		w.putInPlace(ctx, b)
		w.conclude(ctx, before)
		w.conclude(ctx, b)
		return
	}
	if before.hasErrors() {
		w.conclude(ctx, before)
		before = nil
	}
	b.batch.Tell(b.errs)
	alone = b.alone()
	b.again = make([]*staged, len(b.staged))
	w.placing = b
	if w.crew != nil {
		w.crew.give(nil, b)
	} else {
		w.putInPlace(ctx, b)
	}
	w.conclude(ctx, before)
	if alone != nil || w.crew == nil {
		w.settlePlaces(ctx)
	}
}

// putInPlace gives files their places, and looks at each again.
func (w *walk) putInPlace(ctx context.Context, b *writes) {
	b.batch.Place(b.errs, func(n int) {
		x := b.staged[n]
		if _, looks, _ := resource.BoundsOf(x.event.Resource.Spec); !looks {
			w.lookAt(ctx, x) // before the next one, which it may look at
			return
		}
		b.looked.Add(1)
		b.again[b.isPlaced.Load()] = x
		b.isPlaced.Add(1)
	})
	w.lookAgain(ctx, b)
	b.looked.Wait()
	close(b.placed)
}

// lookAgain looks at the files that have their places by now and that nobody else looks
// at. It reports whether there were any.
func (w *walk) lookAgain(ctx context.Context, b *writes) bool {
	for any := false; ; any = true {
		n := b.taken.Load()
		if n >= b.isPlaced.Load() {
			return any
		}
		if !b.taken.CompareAndSwap(n, n+1) {
			continue
		}
		w.lookAt(ctx, b.again[n])
		b.looked.Done()
	}
}

// lookAt looks at a file that has its place, walking there as everybody does: somebody
// may have moved the directory.
func (w *walk) lookAt(ctx context.Context, x *staged) {
	x.seen = true
	x.state, x.unseen = x.f.Status(ctx, w.view, x.event.Resource.Spec)
}

// settlePlaces waits until the files that are being given their places have them, and
// tells of their resources.
func (w *walk) settlePlaces(ctx context.Context) { w.conclude(ctx, w.awaitPlaces(ctx)) }

// awaitPlaces waits until the files that are being given their places have them, and
// returns them; nil if there are none.
func (w *walk) awaitPlaces(ctx context.Context) *writes {
	b := w.placing
	if w.crew != nil && !w.isIdle() {
		w.crew.helpPlace()
	}
	for !w.isIdle() {
		if !w.lookAgain(ctx, b) {
			<-b.placed
		}
	}
	w.placing = nil
	return b
}

// conclude tells of the resources of files that have their places. B may be nil.
func (w *walk) conclude(ctx context.Context, b *writes) {
	if b == nil {
		return
	}
	w.slowSync = b.batch.IsSlow()
	for n, err := range b.errs {
		w.concludeOne(ctx, b.staged[n], err)
	}
	w.tell(b.events)
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

// hasErrors reports whether a file has not got its place. B may be nil.
func (b *writes) hasErrors() bool {
	return b != nil && slices.ContainsFunc(b.errs, func(err error) bool { return err != nil })
}

// alone returns why a file has to be written by itself, nil if none has. B may be nil.
func (b *writes) alone() error {
	if b == nil {
		return nil
	}
	if i := slices.IndexFunc(b.errs, host.MayDoAlone); i >= 0 {
		return b.errs[i]
	}
	return nil
}

// results returns what was wrong with each file. If one has to be written by itself,
// so have all behind it: they might take up the room that it would have had in its
// turn. Alone is the reason if one before has to, nil otherwise.
func (b *writes) results(alone error) []error {
	errs := make([]error, len(b.staged))
	for n, x := range b.staged {
		if errs[n] = x.err; x.err == nil {
			errs[n] = alone
		} else if alone == nil && host.MayDoAlone(x.err) {
			alone = x.err
		}
	}
	return errs
}

// concludeOne notes what became of a file of a batch.
func (w *walk) concludeOne(ctx context.Context, x *staged, err error) {
	ev, done := x.event, 0
	if ev.Took += x.took; host.MayDoAlone(err) {
		h := w.host
		if host.IsTaken(err) {
			h = h.Anew()
		}
		done, err = w.perform(ctx, w.actingFor(ctx, ev, h), x.f, x.d, ev)
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
