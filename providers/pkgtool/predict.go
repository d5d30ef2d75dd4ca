package pkgtool

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// PredictAll asks the package manager once for the
// available versions of all packages, and once whether it could install the absent ones.
func (p *Packages) PredictAll(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prediction {
	return p.Predict(ctx, v, wants, p.PredictAlike)
}

// PredictAlike is PredictAll for packages with the same options, without the check of the user.
func (p *Packages) PredictAlike(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prediction {
	list := make([]resource.Prediction, len(wants))
	states, errs := p.StatusAll(ctx, v, wants)
	var asked, absent []int
	var haves []resources.PackageState
	var removals []Removal
	for i, want := range wants {
		if errs[i] == nil {
			list[i].Err = CheckSource(v, want, states[i], func(path string) error { return p.checkFile(ctx, v, want, path) })
		}
		switch {
		case errs[i] != nil:
		case want.Ensure.IsAbsent() && states[i].Removable():
			removals = append(removals, Removal{At: i, Name: p.plain(want.Name), Specs: []string{want.Name}})
		case want.AsksVersion(states[i]):
			asked, haves = append(asked, i), append(haves, states[i])
		}
	}
	var known [][]string
	var err error
	if len(asked) > 0 {
		known, err = p.Offers(ctx, v, pick(wants, asked), haves)
	}
	for n, i := range asked {
		if err != nil {
			list[i].Err = err
			continue
		}
		version, err := p.choose(ctx, v, wants[i], known[n])
		list[i] = wants[i].Prediction(p.shown(version), p.Repositories, err)
		if err == nil && !states[i].Installed() {
			absent = append(absent, i)
		}
	}
	p.predictInstalls(ctx, v, "install", wants, absent, list)
	if len(removals) == 0 { // otherwise an earlier removal may solve a conflict
		for _, verb := range []string{"install", "downgrade"} {
			p.predictInstalls(ctx, v, verb, wants, p.replaced(verb, wants, states, asked, list), list)
		}
	}
	for _, i := range asked {
		p.PredictRefresh(ctx, v, wants[i], &list[i])
	}
	p.predictRemovals(ctx, v, wants, removals, list, len(asked) > 0)
	if p.WithoutArch != nil {
		AddQualified(wants, list, p.WithoutArch)
	}
	return list
}

// replaced returns the installed packages that a verb would give another version. A held package
// is left out, because a run releases it first, and so is one with an old index, which a run
// reads first.
func (p *Packages) replaced(verb string, wants []resources.Package, states []resources.PackageState, asked []int, list []resource.Prediction) (some []int) {
	for _, i := range asked {
		s := states[i]
		if p.SimulatesChanges && s.Installed() && !s.Held && s.IndexAge == "" && list[i].Err == nil &&
			(s.Order > 0) == (verb == "downgrade") && wants[i].Decide(s).Err == nil {
			some = append(some, i)
		}
	}
	return some
}

// predictInstalls asks the package manager whether it could install or downgrade packages: all
// together and, if that fails, one by one.
func (p *Packages) predictInstalls(ctx context.Context, v *host.View, verb string, wants []resources.Package, some []int, list []resource.Prediction) {
	if len(some) == 0 || p.Simulate == nil {
		return
	}
	var specs []string
	for _, i := range some {
		spec, err := p.specs(ctx, v, wants[i:i+1])
		if err != nil {
			list[i].Err = err
			return
		}
		specs = append(specs, spec...)
	}
	if t, err := p.Simulate(ctx, v, verb, wants[some[0]], specs); err == nil {
		last, names := &list[some[len(some)-1]], NamesOf(pick(wants, some))
		if p.Files != nil {
			files := p.Files(ctx, v, slices.Clone(t.Installs))
			for _, i := range some {
				list[i].Files = files
			}
		}
		others := slices.DeleteFunc(t.Installs, func(pkg string) bool { return slices.Contains(names, pkg) })
		if len(some) == 1 { // otherwise it is not known which one needs what
			last.Installs = others
		}
		last.Removes = t.Removes
		last.Caveat = resources.AddPackagesText(last.Caveat, len(some), others, t.Removes)
		return
	}
	errs := Conflicts(len(some), func(at ...int) error {
		_, err := p.Simulate(ctx, v, verb, wants[some[at[0]]], pick(specs, at))
		return err
	})
	for n, err := range errs {
		if i := some[n]; err != nil {
			list[i] = wants[i].Prediction("", p.Repositories, err) // another repository may have it
		}
	}
}

// predictRemovals adds the packages that are removed with others. It asks whether these could be
// installed again only if something is also installed.
func (p *Packages) predictRemovals(ctx context.Context, v *host.View, wants []resources.Package, removals []Removal, list []resource.Prediction, installs bool) {
	if p.Simulate == nil {
		return
	}
	var offered func(names []string) (map[string]bool, error)
	if installs {
		offered = func(names []string) (map[string]bool, error) {
			asked := make([]resources.Package, len(names))
			for i, name := range names {
				asked[i] = wants[0]
				asked[i].Name = name
			}
			known, err := p.Offers(ctx, v, asked, make([]resources.PackageState, len(names)))
			found := make(map[string]bool, len(known))
			for i := range known {
				found[names[i]] = len(known[i]) > 0
			}
			return found, err
		}
	}
	PredictRemovals(removals, list, func(specs []string) ([]string, error) {
		t, err := p.Simulate(ctx, v, "remove", wants[0], specs)
		return t.Removes, err
	}, offered)
}
