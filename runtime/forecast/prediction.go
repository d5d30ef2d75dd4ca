package forecast

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// askProvider returns an error if the actions of resource i are going to fail, and a caveat. In a
// plan, a provider that can predict many resources at once is asked once.
func (f *Forecaster) askProvider(ctx context.Context, v *host.View, i int, provider *resource.Binding) (caveat string, err error) {
	p, ok := f.predictions[i]
	if !ok && f.planning {
		p, ok = f.predictMany(ctx, i, provider)
	}
	if r := f.catalog.Resources[i]; !ok && !f.planning { // in a run, for a resource that is only planned
		if list := provider.PredictAll(ctx, v, []any{r.Spec}); len(list) == 1 {
			p, ok = list[0], true
		}
	}
	if !ok {
		return provider.Predict(ctx, v, f.catalog.Resources[i].Spec)
	}
	if r := f.catalog.Resources[i]; p.Err == nil && len(p.Removes) > 0 {
		p.Err = f.Desired(provider).CheckRemovals(p.Removes, []string{r.ID.Name})
	}
	if p.Look.Name == "" {
		return p.Caveat, p.Err
	}
	granted := v.Overlay().RecordLook(p.Look.Kind, p.Look.Name, p.Look.Found)
	if !p.Look.Found {
		v.Overlay().DependsOn(p.DependsOn...)
	}
	if granted && !p.Look.Found {
		return "", nil
	}
	return p.Caveat, p.Err
}

// predictMany asks for the predictions of resource i and of all later resources with the same
// provider.
func (f *Forecaster) predictMany(ctx context.Context, i int, provider *resource.Binding) (resource.Prediction, bool) {
	if !provider.HasBulkPrediction() {
		return resource.Prediction{}, false
	}
	var specs []any
	var at []int
	for k := i; k < len(f.catalog.Resources); k++ {
		x := f.catalog.Resources[k]
		if x.Type != provider.Type || x.Skip != "" || x.Resolve != nil {
			continue
		}
		if other, err := f.provider(x); err == nil && other.Same(*provider) {
			specs, at = append(specs, x.Spec), append(at, k)
		}
	}
	list := provider.PredictAll(ctx, f.view.Recording(nil), specs)
	if len(list) != len(specs) {
		return resource.Prediction{}, false
	}
	if f.predictions == nil {
		f.predictions = make(map[int]resource.Prediction)
		f.installers, f.removers = make(map[string][]int), make(map[string][]int)
	}
	for n, k := range at {
		f.predictions[k] = list[n]
		if list[n].Lost {
			f.deletions = append(f.deletions, k)
		}
		for _, name := range list[n].Installs {
			f.installers[name] = append(f.installers[name], k)
		}
		for _, name := range list[n].Removes {
			f.removers[name] = append(f.removers[name], k)
		}
	}
	return list[0], true
}

// Desired returns the things of a provider that resources of the catalog want to exist. Resources
// that were skipped want nothing.
func (f *Forecaster) Desired(provider *resource.Binding) resource.Desired {
	desired := make(resource.Desired)
	for k, r := range f.catalog.Resources {
		if r.Type != provider.Type || r.Skip != "" || f.outcomes[k] == event.Skipped || slices.Contains(r.LazyProperties, "ensure") {
			continue
		}
		if want, ok := r.Spec.(resource.EnsureReporter); !ok || resource.IsAbsent(want.WantedEnsure()) {
			continue
		}
		if other, err := f.provider(r); err == nil && other.Same(*provider) {
			desired[r.ID.Name] = r
		}
	}
	return desired
}
