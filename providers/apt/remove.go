package apt

import (
	"context"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A removal is a package to remove.
type removal struct {
	name
	at int
}

// inRepositories returns the packages that apt could install again.
func inRepositories(ctx context.Context, v *host.View, pkgs, options []string) (map[string]bool, error) {
	var names []name
	for _, pkg := range pkgs {
		if n, err := parseName(pkg); err == nil {
			names = append(names, n)
		}
	}
	known, err := offers(ctx, v, names, options)
	found := make(map[string]bool, len(known))
	for n, o := range known {
		found[n.String()] = o.offered
	}
	return found, err
}

// predictRemovals asks apt which other packages are removed with those that have to be removed.
func predictRemovals(ctx context.Context, v *host.View, wants []resources.Package, removed []removal, installing bool, list []resource.Prediction) {
	if len(removed) == 0 {
		return
	}
	var pkgs []string
	for _, x := range wants {
		if n, err := parseName(x.Name); err == nil {
			pkgs = append(pkgs, n.pkg)
		}
	}
	found, err := pkgtool.Ask(ctx, v, pkgs, records) // cached: Status has asked for the same
	if err != nil {
		return
	}
	var offered func(names []string) (map[string]bool, error)
	if installing {
		offered = func(names []string) (map[string]bool, error) { return inRepositories(ctx, v, names, wants[0].Options) }
	}
	removals := make([]pkgtool.Removal, len(removed))
	for i, x := range removed {
		removals[i] = pkgtool.Removal{At: x.at, Name: x.pkg, Specs: x.specs(found, isRemovable)}
	}
	pkgtool.PredictRemovals(removals, list, func(specs []string) ([]string, error) {
		t, err := simulate(ctx, v, "remove", wants[0], specs)
		return t.removes, err
	}, offered)
}
