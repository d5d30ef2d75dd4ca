package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Cause says why something was to be changed.
type Cause uint8

// The causes.
const (
	NoCause    Cause = iota // nothing was changed, or nobody knows
	New                     // it was not managed before
	Intended                // what is wanted of it has changed
	Corrective              // it was as wanted once, and is not any more
)

// String returns the word for c, "" for none.
func (c Cause) String() string { return [...]string{"", "new", "intended", "corrective"}[c] }

// ParseCause is the inverse of String. What is no cause is NoCause.
func ParseCause(s string) Cause {
	for _, c := range []Cause{New, Intended, Corrective} {
		if c.String() == s {
			return c
		}
	}
	return NoCause
}

// A PendingRefresh is a refresh that a resource has to get, because something that it
// subscribes to was changed.
type PendingRefresh struct {
	To, By resource.ID
	Run    string // in which By was changed
	Cause  Cause  // of that change
}

// A Journal remembers refreshes until they were performed, even if the run ends
// in between.
type Journal interface {
	// AddRefreshes records, durably, that a change of by refreshes others. It is called
	// before by is changed; if it fails, by is not changed.
	AddRefreshes(by resource.ID, cause Cause, to []resource.ID) error
	// CancelRefreshes strikes out what was recorded for by in this run, because nothing
	// was changed after all.
	CancelRefreshes(by resource.ID)
	// FinishRefreshes strikes out whatever is owed to a resource, because it was refreshed
	// or needs no refresh any more.
	FinishRefreshes(to resource.ID)
	// DropRefresh strikes out a refresh that is owed to a resource which is not there any
	// more.
	DropRefresh(d PendingRefresh)
}

// pendingRefreshes is what earlier runs have left over, by the resource that it is owed to.
type pendingRefreshes map[resource.ID][]PendingRefresh

// groupRefreshes sorts list by resource, and returns what is owed to resources that are
// not there any more. It is dropped in a run.
func (w *walk) groupRefreshes(list []PendingRefresh) (left pendingRefreshes, dropped []PendingRefresh) {
	if len(list) == 0 {
		return nil, nil
	}
	there := make(map[resource.ID]bool, len(w.catalog.Resources))
	for _, r := range w.catalog.Resources {
		there[r.ID] = true
	}
	left = make(pendingRefreshes)
	for _, d := range list {
		switch {
		case there[d.To]:
			left[d.To] = append(left[d.To], d)
		case !slices.ContainsFunc(w.catalog.Excluded, func(l catalog.Excluded) bool { return l.ID == d.To }):
			dropped = append(dropped, d)
			if w.journal() != nil {
				w.journal().DropRefresh(d)
			}
		}
	}
	return left, dropped
}

// journal returns the journal of a run that has one. A plan has none.
func (w *walk) journal() Journal {
	if w.planning() {
		return nil
	}
	return w.Journal
}

// addRefreshes records what a change of resource i is going to refresh.
func (w *walk) addRefreshes(i int, cause Cause) error {
	if w.journal() == nil {
		return nil
	}
	if w.refreshes == nil {
		w.refreshes = refreshes(w.catalog)
	}
	if to := w.refreshes[i]; len(to) > 0 {
		return w.journal().AddRefreshes(w.catalog.Resources[i].ID, cause, to)
	}
	return nil
}

// refreshes returns what a change of a resource refreshes, also of that which is
// not in this part of the catalog.
func refreshes(c *catalog.Catalog) map[int][]resource.ID {
	out := make(map[int][]resource.ID)
	for i, deps := range c.Deps {
		for _, d := range deps {
			if d.Refresh {
				out[d.Index] = append(out[d.Index], c.Resources[i].ID)
			}
		}
	}
	for _, l := range c.Excluded {
		for _, by := range l.RefreshedBy {
			out[by] = append(out[by], l.ID)
		}
	}
	return out
}

// finishRefreshes strikes out what is owed to a resource that is as it should be.
func (w *walk) finishRefreshes(ev *Event) {
	if w.journal() != nil && (ev.Outcome == Stable || ev.Outcome == Changed) {
		w.journal().FinishRefreshes(ev.Resource.ID)
	}
}

// cancelRefreshes strikes out what a change was to refresh if it failed and changed
// nothing: the resource differs in the same way as before. If that cannot be
// told, what was recorded stands.
func (w *walk) cancelRefreshes(ctx context.Context, f resource.Binding, d resource.Decision, ev *Event) {
	r := ev.Resource
	if len(w.refreshes[ev.Index]) == 0 || len(d.Diff) == 0 || resource.VerifiesItself(r.Spec) {
		return
	}
	state, err := f.Status(ctx, w.view, r.Spec)
	if err != nil {
		return
	}
	if now := r.Type.Decide(r.Spec, state, false); now.Err == nil && slices.Equal(now.Diff, d.Diff) {
		w.journal().CancelRefreshes(r.ID)
	}
}

// causeOf returns why the event's resource, which has that state, is to be changed.
func (w *walk) causeOf(ctx context.Context, ev *Event, state any) Cause {
	if w.Cause == nil {
		return NoCause
	}
	r := ev.Resource
	c := w.Cause(w.declared[ev.Index], ev.DesiredDigest, func() string {
		text, _ := r.Type.DesiredText(ctx, w.view, r.Spec, state) // if it cannot be had, nobody can tell
		return text
	})
	switch {
	case c == New:
	case ev.Refreshed && len(ev.Diff) == 0:
		return w.causeOfRefresh(ev)
	case c == Corrective && resource.ActsAlways(ev.Resource.Spec):
		return Intended
	}
	return c
}

// recordCause notes why resource i is changed.
func (w *walk) recordCause(i int, c Cause) {
	if c == NoCause {
		return
	}
	if w.causes == nil {
		w.causes = make([]Cause, len(w.catalog.Resources))
	}
	w.causes[i] = c
}

// causeOfRefresh returns the cause of what a refresh comes of: it corrects only
// if nothing else than corrections brought it about.
func (w *walk) causeOfRefresh(ev *Event) Cause {
	for _, d := range w.catalog.Deps[ev.Index] {
		if d.Refresh && w.refreshed(ev.Index, d.Index) && (w.causes == nil || w.causes[d.Index] != Corrective) {
			return Intended
		}
	}
	for _, d := range ev.PendingRefreshes {
		if d.Cause != Corrective {
			return Intended
		}
	}
	return Corrective
}
