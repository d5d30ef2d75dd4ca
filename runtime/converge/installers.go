package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/resource"
)

// pendingInstallers returns the pending resources that may install resource i as well
// (resource.Prospect), such as a package that depends on another.
func (w *walk) pendingInstallers(i int) (suspects []suspect) {
	r := w.catalog.Resources[i]
	for _, k := range w.installers[r.ID.Name] {
		if k >= i || w.without[k] || w.catalog.Resources[k].Type != r.Type {
			continue
		}
		if o := w.outcomes[k]; o == Pending || o == Unknown {
			suspects = append(suspects, suspect{k, fits})
		}
	}
	slices.SortFunc(suspects, func(a, b suspect) int { return a.index - b.index })
	return slices.Compact(suspects) // a list may have a name twice
}

// blameInstallers records that a resource is unknown because another may install it. D is the
// decision about the present state.
func (w *walk) blameInstallers(ctx context.Context, f *resource.Binding, ev *Event, d resource.Decision, brought []suspect) {
	if len(d.Actions) > 0 {
		_, err := w.foresee(ctx, w.view.Recording(w.looks), ev.Index, f)
		w.failing = err != nil
		defer func() { w.failing = false }()
	}
	w.blame(ctx, f, ev, mergeSuspects(brought, w.suspects(ev.Index, w.looks)))
	want, ok := ev.Resource.Spec.(resource.EnsureReporter)
	once := ok && want.WantedEnsure() == "present" // in whichever version it comes
	if once {
		d = resource.Decision{}
	}
	w.forecast(ctx, ev, d, once)
}
