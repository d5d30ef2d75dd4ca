package forecast

import (
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
)

// An ancestry is the resources that one resource comes after because the site says so, directly
// or by way of others.
type ancestry struct {
	index   int // the resource's index plus one, 0 for none
	members []int
	in      []bool // members by index
	// unsettled has the first members that are pending or unknown, in order.
	unsettled []int
	// installsFiles says that a member may install files that other resources manage.
	installsFiles bool
}

// ancestorsOf returns the ancestry of resource i, whose turn it is. It extends the last answer if
// i comes after the last resource asked for, or after the same resources: many sites are a chain.
func (s *suspectFinder) ancestorsOf(i int) *ancestry {
	a := &s.ancestry
	if a.index == i+1 {
		return a
	}
	deps := s.catalog.Deps[i]
	contains := func(k int) bool { return slices.ContainsFunc(deps, func(d catalog.Dep) bool { return d.Index == k }) }
	if a.index == 0 || !contains(a.index-1) && !slices.Equal(deps, s.catalog.Deps[a.index-1]) {
		for _, k := range a.members {
			a.in[k] = false
		}
		a.members, a.unsettled, a.installsFiles = a.members[:0], nil, false
	}
	a.index = i + 1
	for _, d := range deps {
		a.add(s, d.Index)
	}
	return a
}

// add adds resource k and its ancestors.
func (a *ancestry) add(s *suspectFinder, k int) {
	if a.in == nil {
		a.in = make([]bool, len(s.catalog.Resources))
	}
	for stack := []int{k}; len(stack) > 0; {
		k, stack = stack[len(stack)-1], stack[:len(stack)-1]
		if a.in[k] {
			continue
		}
		a.in[k], a.members = true, append(a.members, k)
		if s.isUnsettled(k) {
			at, _ := slices.BinarySearch(a.unsettled, k)
			if at < mostSuspects {
				a.unsettled = slices.Insert(a.unsettled, at, k)
				a.unsettled = a.unsettled[:min(len(a.unsettled), mostSuspects)]
			}
		}
		x := s.effects.byIndex[k]
		a.installsFiles = a.installsFiles || x != nil && x.installsFiles
		for _, d := range s.catalog.Deps[k] {
			stack = append(stack, d.Index)
		}
	}
}

// comesAfter reports whether the site says that resource i, whose turn it is, comes after
// resource k, directly or by way of others.
func (s *suspectFinder) comesAfter(i, k int) bool {
	return len(s.catalog.Deps[i]) > 0 && s.ancestorsOf(i).in[k]
}
