package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// writes are the files that are being written together, because each belongs to a
// resource that changes nothing else (resource.Bounded) and none of them has to do
// with another. They are made durable at once (host.Batch), which takes about as
// long as it takes for one. They get their places in the order of the resources.
// What is told of the resources is told after that, in their order, of those too
// that had nothing to do and came between.
type writes struct {
	batch  *host.Batch
	paths  trail
	first  int // the number of the first resource
	events []*Event
	staged []staged
}

// staged is a resource whose file is in the batch.
type staged struct {
	event *Event
	f     resource.Factory
	d     resource.Decision
}

// longestRow is how many resources are between the first and the last of a batch
// at most: until they have their turn, a file does not get its place.
const longestRow = 1024

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

// hostFor returns the host for a decision: that of the batch, if a whole file is
// written that can be written together with others. Before anything else is done,
// the files of the batch get their places.
func (w *walk) hostFor(ctx context.Context, d resource.Decision, ev *Event) *host.Host {
	if len(d.Leaves) != 1 || d.Leaves[0].Kind != host.Regular || d.Leaves[0].Kept {
		w.flush(ctx)
		return w.host
	}
	if w.writes == nil {
		if _, ok := w.batchable(ev.Index); !ok {
			return w.host
		}
		w.writes = &writes{batch: w.host.Batch(), first: ev.Index, paths: trail{view: w.view}}
	}
	return w.writes.batch.Host()
}

// stage notes that the file of a resource is in the batch, if it is: if the
// resource was changed in another way, that is done.
func (w *walk) stage(ev *Event, f resource.Factory, d resource.Decision) bool {
	b := w.writes
	if b == nil || b.batch.Len() == len(b.staged) {
		return false
	}
	path, _, _ := resource.BoundsOf(ev.Resource.Spec)
	b.paths.add(path)
	b.staged = append(b.staged, staged{ev, f, d})
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
	errs := b.batch.Commit(func(n int) {
		x := b.staged[n]
		w.verify(ctx, x.f, x.event)
	})
	for n, err := range errs {
		ev := b.staged[n].event
		if len(errs) > 1 && host.MayDoAlone(err) {
			// All of them together take more room than each by itself.
			if err = w.alone(ctx, b.staged[n]); err == nil {
				w.verify(ctx, b.staged[n].f, ev)
			}
		}
		if w.ahead.changed(ev.Resource); err != nil {
			ev.Err, ev.Actions = err, nil
			w.forgive(ctx, b.staged[n].f, b.staged[n].d, ev)
		}
		if ev.Err != nil {
			ev.Outcome = Failed
			w.became(ev)
		}
	}
	w.tell(b.events)
}

// alone writes the file of a resource by itself.
func (w *walk) alone(ctx context.Context, x staged) error {
	h := w.actingFor(ctx, x.event, w.host)
	for _, a := range x.d.Actions {
		if err := x.f.Perform(ctx, h, x.event.Resource.Spec, a); err != nil {
			return err
		}
	}
	return nil
}
