package pkgtool

import (
	"slices"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Removal is a package that a plan removes.
type Removal struct {
	At    int      // index in the predictions
	Name  string   // in the package manager's lists
	Specs []string // in the package manager's syntax
}

// PredictRemovals adds to the prediction of each removal, in order, the other packages that are
// removed with it. Simulate returns all packages that would be removed with the specs. Each
// removal is simulated together with those before it, because a dependency may be satisfied until
// the last of several packages goes. A removal that the package manager refuses is going to fail.
// Offered tells which packages repositories have; nil if nothing is installed, so that it does
// not matter.
func PredictRemovals(removals []Removal, list []resource.Prediction, simulate func(specs []string) ([]string, error), offered func(names []string) (map[string]bool, error)) {
	var specs, gone, every []string
	for _, r := range removals {
		every = append(every, r.Specs...)
	}
	for _, r := range removals {
		own := func(pkg string) bool { return pkg == r.Name || slices.Contains(r.Specs, pkg) }
		if slices.ContainsFunc(gone, own) {
			continue // an earlier removal includes it
		}
		all, err := simulate(slices.Concat(specs, r.Specs))
		if err != nil && len(removals) > 1 {
			// Some refuse to remove a package that another one needs, but not both at once.
			all, err = simulate(every)
		}
		if err != nil {
			list[r.At].Err = err
			continue
		}
		specs = append(specs, r.Specs...)
		for _, pkg := range all {
			if slices.Contains(gone, pkg) {
				continue
			}
			gone = append(gone, pkg)
			if !own(pkg) {
				list[r.At].Removes = append(list[r.At].Removes, pkg)
			}
		}
		if also := list[r.At].Removes; len(also) > 0 {
			list[r.At].Caveat = "removes " + resources.Removed(also) + " too"
		}
	}
	if offered == nil || len(gone) == 0 {
		return
	}
	known, err := offered(gone)
	if err != nil {
		return
	}
	for _, r := range removals {
		isLost := func(pkg string) bool { return !known[pkg] }
		list[r.At].Lost = list[r.At].Err == nil && slices.ContainsFunc(append([]string{r.Name}, list[r.At].Removes...), isLost)
	}
}
