package forecast

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// pendingInstallersAndRemovers returns the pending resources that install or remove resource i as
// a side effect (resource.Prediction), such as a package that depends on another. They are in
// order. Removed says that the last one removes it.
func (f *Forecaster) pendingInstallersAndRemovers(i int) (suspects []suspect, removed bool) {
	name := f.catalog.Resources[i].ID.Name
	suspects = f.suspects.pendingOf(i, f.installers[name])
	removers := f.suspects.pendingOf(i, f.removers[name])
	removed = len(removers) > 0
	if n := len(suspects); n > 0 && removed {
		removed = suspects[n-1].index < removers[len(removers)-1].index
	}
	suspects = append(suspects, removers...)
	slices.SortFunc(suspects, func(a, b suspect) int { return a.index - b.index })
	return slices.Compact(suspects), removed // a list may have a resource twice
}

// lostBefore returns the pending resources that remove packages for good. Resource i, which is to
// be installed, may need one of these.
func (f *Forecaster) lostBefore(i int) (suspects []suspect) {
	if p := f.predictions[i]; p.Look.Kind != overlay.RepositoryLook || !p.Look.Found {
		return nil
	}
	for _, x := range f.suspects.pendingOf(i, f.deletions) {
		suspects = append(suspects, suspect{x.index, mayBe})
	}
	return suspects
}

// pendingOf returns the pending and unknown resources in the list that come before resource i and
// have its type.
func (s *suspectFinder) pendingOf(i int, list []int) (suspects []suspect) {
	for _, k := range list {
		if k >= i || s.excluded[k] || s.catalog.Resources[k].Type != s.catalog.Resources[i].Type {
			continue
		}
		if s.isUnsettled(k) {
			suspects = append(suspects, suspect{k, fits})
		}
	}
	return suspects
}

// blameInstallers records that a resource is unknown because others may install or remove it. D
// is the decision about the present state.
func (f *Forecaster) blameInstallers(ctx context.Context, provider *resource.Binding, ev *event.Event, d resource.Decision, installers []suspect, removed bool) {
	r := ev.Resource
	if removed {
		d = r.Type.DecideZero(r.Spec)
	}
	if len(d.Actions) > 0 {
		_, err := f.askProvider(ctx, f.view.Recording(f.looks), ev.Index, provider)
		f.suspects.failing = err != nil
		defer func() { f.suspects.failing = false }()
	}
	f.blame(ctx, provider, ev, mergeSuspects(installers, f.suspects.of(ev.Index, f.looks)))
	want, ok := r.Spec.(resource.EnsureReporter)
	once := ok && want.WantedEnsure() == "present" // any version will do
	if once && !removed {
		d = resource.Decision{}
	}
	f.forecast(ctx, ev, d, once || removed)
}
