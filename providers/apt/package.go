package apt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// packages manages Debian packages.
type packages struct{}

var _ pkgtool.Provider = packages{}

// Bulk implements resource.BulkProvider.
func (p packages) Bulk() resource.Bulk[resources.Package, resources.PackageState] {
	b := resources.PackagesInBulk(p)
	b.Status, b.Predict = p.StatusAll, p.PredictAll
	b.Inventory, b.CompanionText = p.inventory, p.companionText
	return b
}

// Describe implements resource.SelfDescriber.
func (packages) Describe() resource.Description { return tool.Describe() }

// Status implements resources.PackageProvider.
func (p packages) Status(ctx context.Context, v *host.View, want resources.Package) (resources.PackageState, error) {
	states, errs := p.StatusAll(ctx, v, []resources.Package{want})
	return states[0], errs[0]
}

// StatusAll asks dpkg once for all packages, and apt once for
// those whose available versions matter.
func (p packages) StatusAll(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	return pkgtool.StatusAll(ctx, v, wants, p.statusAll)
}

func (p packages) statusAll(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	states, errs := make([]resources.PackageState, len(wants)), make([]error, len(wants))
	names := make([]name, len(wants))
	var pkgs []string
	for i, want := range wants {
		if names[i], errs[i] = parseName(want.Name); errs[i] == nil {
			pkgs = append(pkgs, names[i].pkg)
		}
	}
	found, err := pkgtool.Ask(ctx, v, pkgs, records)
	var open []name
	for i, want := range wants {
		if errs[i] == nil {
			errs[i] = err
		}
		if errs[i] != nil {
			continue
		}
		if states[i], errs[i] = state(names[i], found); errs[i] == nil {
			states[i].Violates, errs[i] = violates(want, states[i])
		}
		if errs[i] == nil && asksCandidate(want, states[i]) {
			open = append(open, names[i])
		}
	}
	known := map[name]offer{}
	if len(open) > 0 {
		known, err = offers(ctx, v, open, wants[0].Options)
	}
	for i, want := range wants {
		if errs[i] == nil && asksCandidate(want, states[i]) {
			v.Overlay().RecordLook(overlay.RepositoryLook, want.Name, false) // there may be a newer one
			v.Overlay().DependsOn(repositories...)
			states[i].IndexAge = tool.OlderIndex(ctx, v, want)
			if errs[i] = err; err == nil {
				states[i].Candidate, errs[i] = known[names[i]].best(want.Ensure)
			}
		}
		if errs[i] == nil {
			states[i].Order, errs[i] = p.order(want, states[i])
		}
	}
	markAutomatic(ctx, v, wants, names, states, errs)
	return states, errs
}

// markAutomatic sets Automatic. It asks apt once, for the installed packages that are to be manual.
func markAutomatic(ctx context.Context, v *host.View, wants []resources.Package, names []name, states []resources.PackageState, errs []error) {
	asked := func(i int) bool { return errs[i] == nil && wants[i].Manual && states[i].Installed() }
	argv := []string{"apt-mark", "showauto"}
	for i := range wants {
		if asked(i) {
			argv = append(argv, names[i].String())
		}
	}
	if len(argv) == 2 {
		return // without a name it lists all
	}
	res, err := tool.Query(ctx, v, argv...)
	if err == nil && res.Code != 0 {
		err = pkgtool.ExitError("apt-mark showauto", res.Code, res.LastWords())
	}
	automatic := strings.Fields(string(res.Stdout))
	for i := range wants {
		if asked(i) {
			errs[i] = err
			states[i].Automatic = slices.Contains(automatic, names[i].String()) || slices.Contains(automatic, names[i].pkg)
		}
	}
}

// violates reports whether a constraint forbids the installed version.
func violates(want resources.Package, have resources.PackageState) (bool, error) {
	if !want.Ensure.IsConstraint() || !have.Installed() {
		return false, nil
	}
	allowed, err := allows(want.Ensure, have.Metadata.Version)
	return !allowed, err
}

// allows reports whether a constraint allows a version.
func allows(e resources.PackageEnsure, version string) (bool, error) {
	return e.Allows(func(other string) (int, error) { return compareVersions(version, other) })
}

// asksCandidate reports whether the decision needs apt's candidate.
func asksCandidate(want resources.Package, have resources.PackageState) bool {
	return have.Installed() && (want.Ensure == resources.PackageLatest || have.Violates)
}

// state returns the state of n from dpkg's records.
func state(n name, found map[string][]record) (have resources.PackageState, err error) {
	list, ok := found[n.pkg]
	if !ok {
		return have, fmt.Errorf("dpkg-query did not report %s", n)
	}
	r, err := pick(n.of(list))
	have.Held = r.want == "hold"
	if r.status != installed {
		have.Residue = slices.ContainsFunc(n.of(list), isResidue)
		have.Problem = r.status
		return have, err
	}
	have.Metadata = resources.PackageMetadata{
		Name: r.pkg, Version: r.version, Arch: r.arch, URL: r.homepage,
		Summary: r.summary, Description: r.description, Provider: Name,
	}
	return have, err
}

// order compares the installed version with the desired one.
func (p packages) order(want resources.Package, have resources.PackageState) (int, error) {
	desired := string(want.Ensure)
	if !want.Ensure.IsVersion() { // neither a version nor a constraint
		desired = have.Candidate
	}
	if !have.Installed() || desired == "" {
		return 0, nil
	}
	return compareVersions(have.Metadata.Version, desired)
}
