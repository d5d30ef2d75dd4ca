package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// foresee returns an error if the actions of resource i are going to fail, and a caveat.
// A provider that can answer for many resources is asked once in a plan.
func (w *walk) foresee(ctx context.Context, v *host.View, i int, f *resource.Binding) (caveat string, err error) {
	p, ok := w.prospects[i]
	if !ok && w.planning() {
		p, ok = w.prospect(ctx, i, f)
	}
	if !ok {
		return f.Foresee(ctx, v, w.catalog.Resources[i].Spec)
	}
	if p.Look.Name == "" {
		return p.Caveat, p.Err
	}
	granted := v.Looked(p.Look.Kind, p.Look.Name, p.Look.Found)
	if !p.Look.Found {
		v.HangsOn(p.DependsOn...)
	}
	if granted && !p.Look.Found {
		return "", nil
	}
	return p.Caveat, p.Err
}

// prospect asks for the prospects of resource i and of all that follow with the same
// provider.
func (w *walk) prospect(ctx context.Context, i int, f *resource.Binding) (resource.Prospect, bool) {
	if !f.ForeseesMany() {
		return resource.Prospect{}, false
	}
	var specs []any
	var at []int
	for k := i; k < len(w.catalog.Resources); k++ {
		x := w.catalog.Resources[k]
		if x.Type != f.Type || x.Skip != "" || x.Resolve != nil {
			continue
		}
		if g, err := w.prefetch.provider(x); err == nil && g.Same(*f) {
			specs, at = append(specs, x.Spec), append(at, k)
		}
	}
	list, ok := f.ForeseeAll(ctx, w.view.Recording(nil), specs)
	if !ok || len(list) != len(specs) {
		return resource.Prospect{}, false
	}
	if w.prospects == nil {
		w.prospects = make(map[int]resource.Prospect)
		w.installers = make(map[string][]int)
	}
	for n, k := range at {
		w.prospects[k] = list[n]
		for _, name := range list[n].Installs {
			w.installers[name] = append(w.installers[name], k)
		}
	}
	return list[0], true
}
