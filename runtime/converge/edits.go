package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Edits are consecutive resources that edit one file (resource.FileEditor). The file is written
// once, after the last edit, so the machine never has a file with only some of the edits. Each
// resource is decided about on the text that the edits before it leave, and has a diff of its
// own.
//
// The resources are reported after the write: if it fails, each one that changed the text has
// failed. Each resource is verified on the text that it leaves, because a later edit may undo it.
// If the file is not as it was written, each is verified on the file instead.
type edits struct {
	edit *host.Edit
	last int // index of the last resource

	// The walk's own view and host, restored after the last edit.
	view *host.View
	host *host.Host
}

// beginEdits begins the edit of a file, if resource i is the first of several
// that edit it.
func (w *walk) beginEdits(ctx context.Context, i int) {
	if w.planning || w.open != nil {
		return
	}
	path := w.grouping.editedFile(i)
	if path == "" {
		return
	}
	last := i
	for last+1 < len(w.catalog.Resources) && w.grouping.editedFile(last+1) == path && sameBackup(w.catalog.Resources[i], w.catalog.Resources[last+1]) {
		last++
	}
	if last == i {
		return
	}
	e := &edits{edit: w.host.NewEdit(ctx, path), last: last, view: w.view, host: w.host}
	w.host, w.view = e.edit.Host(), &e.edit.Host().View
	w.open, w.closed = e, true
}

// sameBackup reports whether two resources agree on making backups.
func sameBackup(a, b *resource.Resource) bool {
	backs := func(r *resource.Resource) bool { return r.Common.Backup == nil || *r.Common.Backup }
	return backs(a) == backs(b)
}

// canWait implements openWork.
func (e *edits) canWait(_ *walk, i int) bool { return i <= e.last }

// conclude writes the edited file.
func (e *edits) conclude(ctx context.Context, w *walk) {
	w.view, w.host = e.view, e.host
	err := e.edit.Commit()
	placed := err == nil && e.edit.IsPlaced()
	for _, ev := range w.queue {
		if ev.Outcome != event.Changed {
			continue
		}
		w.noteChange(ev.Resource, false)
		switch {
		case err != nil:
			ev.Outcome, ev.Err, ev.Actions = event.Failed, err, nil
			w.noteOutcome(ev)
			if provider, err := w.Registry.Select(ev.Resource, w.Facts); err == nil {
				w.refreshes.cancelIfUnchanged(ctx, provider, ev.Diff, ev)
			}
		case !placed:
			w.verifyEdit(ctx, ev)
		}
	}
}

// verifyEdit verifies a resource on a file that somebody else has changed since it was written.
func (w *walk) verifyEdit(ctx context.Context, ev *event.Event) {
	var provider resource.Binding
	if provider, ev.Err = w.Registry.Select(ev.Resource, w.Facts); ev.Err == nil {
		w.verify(ctx, provider, ev)
	}
	if ev.Err != nil {
		ev.Outcome = event.Failed
		w.noteOutcome(ev)
	}
}
