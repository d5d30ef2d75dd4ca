package pkgtool

import (
	"slices"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Removal is a package that a plan removes.
type Removal struct {
	At    int      // its place in the list of predictions
	Name  string   // as the package manager lists it
	Specs []string // as the package manager is told of it
}

// PredictRemovals says of each removal, in order, which other packages go with it.
// Simulate returns all packages that would go if those with the specs were removed. Each
// is asked about together with those before it, because the last package that another one
// is content with may go later. A removal that the package manager refuses is going to fail.
// Offered tells which packages repositories have; nil if that makes no difference because
// nothing is installed.
func PredictRemovals(removals []Removal, list []resource.Prediction, simulate func(specs []string) ([]string, error), offered func(names []string) (map[string]bool, error)) {
	var specs, gone, every []string
	for _, r := range removals {
		every = append(every, r.Specs...)
	}
	for _, r := range removals {
		own := func(pkg string) bool { return pkg == r.Name || slices.Contains(r.Specs, pkg) }
		if slices.ContainsFunc(gone, own) {
			continue // an earlier removal takes it along
		}
		all, err := simulate(slices.Concat(specs, r.Specs))
		if err != nil && len(removals) > 1 {
			// Some refuse to remove what another package needs, but not both at once.
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
