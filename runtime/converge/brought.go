package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/resource"
)

// broughtBy returns the resources that may bring resource i along (resource.Prospect),
// such as a package that needs another.
func (w *walk) broughtBy(i int) (doubts []doubt) {
	r := w.catalog.Resources[i]
	for _, k := range w.installers[r.ID.Name] {
		if k >= i || w.without[k] || w.catalog.Resources[k].Type != r.Type {
			continue
		}
		if o := w.outcomes[k]; o == Pending || o == Unknown {
			doubts = append(doubts, doubt{k, fits})
		}
	}
	slices.SortFunc(doubts, func(a, b doubt) int { return a.index - b.index })
	return slices.Compact(doubts) // a list may have a name twice
}

// isBrought records that a resource may be there by its turn because another brings it.
// D is what would be done as things stand.
func (w *walk) isBrought(ctx context.Context, f *resource.Binding, ev *Event, d resource.Decision, brought []doubt) {
	if len(d.Actions) > 0 {
		_, err := w.foresee(ctx, w.view.Recording(w.looks), ev.Index, f)
		w.failing = err != nil
		defer func() { w.failing = false }()
	}
	w.blame(ctx, f, ev, join(brought, w.doubts(ev.Index, w.looks)))
	want, ok := ev.Resource.Spec.(resource.EnsureReporter)
	once := ok && want.WantedEnsure() == "present" // in whichever version it comes
	if once {
		d = resource.Decision{}
	}
	w.forecast(ctx, ev, d, once)
}
