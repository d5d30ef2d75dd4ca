package dnf

import (
	"context"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// packages manages rpm packages.
type packages struct{}

var (
	_ resources.PackageProvider                                 = packages{}
	_ resource.Batch[resources.Package, resources.PackageState] = packages{}
)

// Status implements resources.PackageProvider.
func (p packages) Status(ctx context.Context, v *host.View, want resources.Package) (resources.PackageState, error) {
	return pkgtool.Status(ctx, v, p, want)
}

// StatusAll implements resource.Batch: it asks rpm once for all packages, and
// dnf once for those of which the repositories matter.
func (p packages) StatusAll(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	states, errs := make([]resources.PackageState, len(wants)), make([]error, len(wants))
	comparisons := make([]comparison, len(wants))
	var names []string
	for i, want := range wants {
		if errs[i] = checkName(want.Name); errs[i] == nil {
			names = append(names, want.Name)
		}
	}
	found, err := pkgtool.Ask(ctx, v, names, records)
	var open []string
	for i, want := range wants {
		if errs[i] == nil {
			errs[i] = err
		}
		if errs[i] == nil {
			comparisons[i], errs[i] = compare(want, found)
			states[i] = comparisons[i].state()
		}
		if errs[i] == nil && comparisons[i].asksOffers() {
			open = append(open, want.Name)
		}
	}
	known, err := pkgtool.Ask(ctx, v, open, offers)
	for i, want := range wants {
		if errs[i] != nil || !comparisons[i].asksOffers() {
			continue
		}
		if comparisons[i].latest {
			v.Looked(host.RepositoryLook, want.Name, false) // there may be a newer one
			v.HangsOn(repositories...)
		}
		if errs[i] = err; err == nil {
			comparisons[i].resolve(known[want.Name])
			states[i] = comparisons[i].state()
		}
	}
	return states, errs
}

// A comparison is how an installed package compares with what is wished of it.
type comparison struct {
	have      *record // nil if the package is absent
	latest    bool
	wish      *evr // nil if no certain version is wished
	order     int
	candidate string
}

// compare compares what rpm knows of a package with what is wanted, as far as
// can be told without the repositories.
func compare(want resources.Package, found map[string][]record) (c comparison, err error) {
	if want.Ensure.IsVersion() {
		wish, err := parseEVR(string(want.Ensure))
		if err != nil {
			return c, err
		}
		c.wish = &wish
	}
	c.latest = want.Ensure == resources.PackageLatest
	list, ok := found[want.Name]
	if !ok {
		return c, fmt.Errorf("rpm has no package of the name %s, but reads it as the version of one", want.Name)
	}
	if len(list) == 0 {
		return c, nil
	}
	// There may be several, of several architectures, or of a kind like kernels.
	newest := slices.MaxFunc(list, func(a, b record) int { return a.compare(b.evr) })
	c.have = &newest
	if c.wish != nil {
		if i := slices.IndexFunc(list, func(r record) bool { return r.compare(*c.wish) == 0 }); i >= 0 {
			c.have = &list[i]
		}
		c.order = c.have.compare(*c.wish)
	}
	return c, nil
}

// asksOffers reports whether the repositories matter: for the candidate, or for
// the direction of a change whose epoch the user left out.
func (c *comparison) asksOffers() bool {
	return c.have != nil && (c.latest || c.order != 0 && c.wish.epoch == "")
}

// resolve completes c with what the repositories have of the package.
func (c *comparison) resolve(list []offer) {
	best, ok := newest(list, c.have.arch, func(o offer) bool { return c.wish == nil || o.compare(*c.wish) == 0 })
	if !ok {
		return
	}
	c.order = c.have.compare(best)
	if !c.latest {
		return
	}
	c.candidate = best.withoutEpoch()
	if best.epoch != c.have.epoch {
		c.candidate = best.full()
	}
}

// state returns the state of the package.
func (c *comparison) state() (s resources.PackageState) {
	if c.have == nil {
		return s
	}
	r := c.have
	s.Order, s.Candidate = c.order, c.candidate
	s.Metadata = resources.PackageMetadata{
		Name: r.name, Version: r.withoutEpoch(), Arch: r.arch, License: r.license, URL: r.url,
		Summary: r.summary, Description: r.description, Provider: Name,
		Extended: resources.PackageExtended{Epoch: r.epoch, Release: r.release},
	}
	return s
}

// Install implements resources.PackageProvider.
func (packages) Install(ctx context.Context, h *host.Host, pkg, version string) error {
	spec, err := specOf(pkg, version)
	if err != nil {
		return err
	}
	if err := change(ctx, h, "dnf", "install", "-y", spec); err != nil {
		return err
	}
	found, err := records(ctx, &h.View, []string{pkg})
	if err == nil && len(found[pkg]) == 0 {
		return fmt.Errorf("dnf installed something else for %s: name the package itself, not what it provides", pkg)
	}
	return err
}

// Upgrade implements resources.PackageProvider.
func (p packages) Upgrade(ctx context.Context, h *host.Host, pkg, version string) error {
	return p.Install(ctx, h, pkg, version)
}

// Downgrade implements resources.PackageProvider.
func (packages) Downgrade(ctx context.Context, h *host.Host, pkg, version string) error {
	spec, err := specOf(pkg, version)
	if err != nil {
		return err
	}
	return change(ctx, h, "dnf", "downgrade", "-y", spec)
}

// Uninstall implements resources.PackageProvider.
func (packages) Uninstall(ctx context.Context, h *host.Host, pkg string) error {
	if err := checkName(pkg); err != nil {
		return err
	}
	return change(ctx, h, "dnf", "remove", "-y", pkg)
}
