package pkgtool

import (
	"context"
	"fmt"
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
// Offered reports which packages repositories have; nil if nothing is installed, so that it does
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

// CheckRemovals returns an error if packages that the site wants are among the removed ones. The
// action is for wants. Plain returns a name without its architecture: package managers leave out
// the machine's own.
func CheckRemovals(ctx context.Context, wants []resources.Package, removed []string, plain func(name string) string) error {
	names := slices.Clone(removed)
	for name := range resource.DesiredFrom(ctx) {
		if pkg := plain(name); pkg != name && slices.Contains(removed, pkg) {
			names = append(names, name)
		}
	}
	return resource.DesiredFrom(ctx).CheckRemovals(names, NamesOf(wants))
}

// Conflicts returns an error for each of n packages that cannot be installed, by itself or together
// with those before it. Simulate simulates the installation of the packages with some indices.
func Conflicts(n int, simulate func(at ...int) error) []error {
	errs := make([]error, n)
	var able []int
	for i := range n {
		if errs[i] = simulate(i); errs[i] == nil {
			able = append(able, i)
		}
	}
	if len(able) < 2 || simulate(able...) == nil {
		return errs
	}
	var some []int
	for _, i := range able {
		if err := simulate(append(slices.Clone(some), i)...); err != nil && len(some) > 0 {
			errs[i] = fmt.Errorf("conflicts with packages that this site installs before it: %w", err)
			continue
		}
		some = append(some, i)
	}
	return errs
}
