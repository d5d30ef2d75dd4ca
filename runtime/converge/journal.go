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

// A PendingRefresh is a refresh of resource To that is due because resource By, to which it
// subscribes, was changed.
type PendingRefresh struct {
	To, By resource.ID
	Run    string // in which By was changed
	Cause  Cause  // of that change
}

// A Journal records refreshes until they were performed, even if the run ends in between.
type Journal interface {
	// AddRefreshes records, durably, that a change of by refreshes others. It is called
	// before by is changed; if it fails, by is not changed.
	AddRefreshes(by resource.ID, cause Cause, to []resource.ID) error
	// CancelRefreshes removes the refreshes of this run that come of by, which was not changed
	// after all.
	CancelRefreshes(by resource.ID)
	// FinishRefreshes removes all refreshes of a resource, which was refreshed or needs none
	// any more.
	FinishRefreshes(to resource.ID)
	// DropRefresh removes a refresh of a resource that is not declared any more.
	DropRefresh(d PendingRefresh)
}

// pendingRefreshes is refreshes of earlier runs, by the resource to refresh.
type pendingRefreshes map[resource.ID][]PendingRefresh

// groupRefreshes groups list by resource. Dropped is the refreshes of resources that are not
// declared any more, which a run removes from its journal.
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

// finishRefreshes removes the refreshes of a resource that is in order.
func (w *walk) finishRefreshes(ev *Event) {
	if w.journal() != nil && (ev.Outcome == Stable || ev.Outcome == Changed) {
		w.journal().FinishRefreshes(ev.Resource.ID)
	}
}

// cancelRefreshes removes the refreshes that come of a change which failed and changed
// nothing: the resource differs in the same way as before. They stay if that is not known.
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

// recordCause records the cause of the change of resource i.
func (w *walk) recordCause(i int, c Cause) {
	if c == NoCause {
		return
	}
	if w.causes == nil {
		w.causes = make([]Cause, len(w.catalog.Resources))
	}
	w.causes[i] = c
}

// causeOfRefresh returns the cause of a refresh: corrective if all changes that it is for
// were.
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
