package apt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// packages manages Debian packages.
type packages struct{}

var (
	_ resources.PackageProvider                                 = packages{}
	_ resource.Batch[resources.Package, resources.PackageState] = packages{}
)

// Status implements resources.PackageProvider.
func (p packages) Status(ctx context.Context, v *host.View, want resources.Package) (resources.PackageState, error) {
	return pkgtool.Status(ctx, v, p, want)
}

// StatusAll implements resource.Batch: it asks dpkg once for all packages, and
// apt once for those that are to be the latest.
func (p packages) StatusAll(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	states, errs := make([]resources.PackageState, len(wants)), make([]error, len(wants))
	names := make([]name, len(wants))
	var pkgs []string
	for i, want := range wants {
		if names[i], errs[i] = parseName(want.Name); errs[i] == nil {
			pkgs = append(pkgs, names[i].pkg)
		}
	}
	found, err := pkgtool.Ask(ctx, v, pkgs, records)
	var upgradable []name
	for i, want := range wants {
		if errs[i] == nil {
			errs[i] = err
		}
		if errs[i] != nil {
			continue
		}
		if states[i], errs[i] = state(names[i], found); errs[i] == nil && asksCandidate(want, states[i]) {
			upgradable = append(upgradable, names[i])
		}
	}
	known := map[name]offer{}
	if len(upgradable) > 0 {
		known, err = offers(ctx, v, upgradable)
	}
	for i, want := range wants {
		if errs[i] == nil && asksCandidate(want, states[i]) {
			v.Looked(host.RepositoryLook, want.Name, false) // there may be a newer one
			v.HangsOn(repositories...)
			states[i].Candidate, errs[i] = known[names[i]].candidate, err
		}
		if errs[i] == nil {
			states[i].Order, errs[i] = p.order(want, states[i])
		}
	}
	return states, errs
}

// asksCandidate reports whether it matters what apt would choose.
func asksCandidate(want resources.Package, have resources.PackageState) bool {
	return want.Ensure == resources.PackageLatest && have.Installed()
}

// state makes a state of what dpkg knows of n.
func state(n name, found map[string][]record) (have resources.PackageState, err error) {
	list, ok := found[n.pkg]
	if !ok {
		return have, fmt.Errorf("dpkg-query did not answer for %s", n)
	}
	r, err := pick(n.of(list))
	have.Held = r.want == "hold"
	if r.status != installed {
		have.Unfinished = r.status
		return have, err
	}
	have.Metadata = resources.PackageMetadata{
		Name: r.pkg, Version: r.version, Arch: r.arch, URL: r.homepage,
		Summary: r.summary, Description: r.description, Provider: Name,
	}
	return have, err
}

// order compares what is installed with what is wished.
func (p packages) order(want resources.Package, have resources.PackageState) (int, error) {
	wish := string(want.Ensure)
	if !want.Ensure.IsVersion() {
		wish = have.Candidate
	}
	if !have.Installed() || wish == "" {
		return 0, nil
	}
	return compareVersions(have.Metadata.Version, wish)
}

// Install implements resources.PackageProvider. Apt is asked first whether it
// knows the package, because it would take an unknown name for a regular
// expression, and install something else for a virtual one.
func (packages) Install(ctx context.Context, h *host.Host, pkg, version string) error {
	n, err := parseName(pkg)
	if err != nil {
		return err
	}
	known, err := offers(ctx, &h.View, []name{n})
	if err != nil {
		return err
	}
	o, ok := known[n]
	if !ok {
		return noPackage(n)
	}
	argv := []string{"apt-get", "install", "-y", "-q", "-o", "DPkg::Options::=--force-confold", "-o", lockTimeout}
	if halfInstalled(ctx, &h.View, n) {
		argv = append(argv, "--reinstall") // apt would hold it to be there
	}
	wish := resources.PackageEnsure(version)
	if !wish.IsVersion() && o.candidate == "" {
		return nothingToInstall(ctx, &h.View, n)
	}
	switch wish {
	case resources.PackagePresent:
		return change(ctx, h, append(argv, n.String())...)
	case resources.PackageLatest:
		return change(ctx, h, append(argv, n.String()+"="+o.candidate)...)
	}
	err = change(ctx, h, append(argv, "--allow-downgrades", n.String()+"="+version)...)
	if err != nil && !slices.Contains(o.versions, version) && len(o.versions) > 0 {
		return fmt.Errorf("%w\n(apt has %s of it)", err, strings.Join(o.versions, ", "))
	}
	return err
}

// halfInstalled reports whether dpkg was stopped while it unpacked a package. If that
// cannot be told, apt will say what is wrong.
func halfInstalled(ctx context.Context, v *host.View, n name) bool {
	found, err := records(ctx, v, []string{n.pkg})
	if err != nil {
		return false
	}
	r, err := pick(n.of(found[n.pkg]))
	return err == nil && r.status == "half-installed"
}

// nothingToInstall says why apt has no candidate for n.
func nothingToInstall(ctx context.Context, v *host.View, n name) error {
	pkgs, err := providersOf(ctx, v, n)
	switch {
	case err != nil:
		return err
	case len(pkgs) > 0:
		return fmt.Errorf("%s is a virtual package: name one that provides it (%s)", n, strings.Join(pkgs, ", "))
	}
	return fmt.Errorf("apt has no version of %s that it may install", n)
}

// Upgrade implements resources.PackageProvider.
func (p packages) Upgrade(ctx context.Context, h *host.Host, pkg, version string) error {
	return p.Install(ctx, h, pkg, version)
}

// Downgrade implements resources.PackageProvider.
func (p packages) Downgrade(ctx context.Context, h *host.Host, pkg, version string) error {
	return p.Install(ctx, h, pkg, version)
}

// Uninstall implements resources.PackageProvider. Configuration files stay. The
// package goes from every architecture that its name means.
func (p packages) Uninstall(ctx context.Context, h *host.Host, pkg string) error {
	n, err := parseName(pkg)
	if err != nil {
		return err
	}
	found, err := records(ctx, &h.View, []string{n.pkg})
	if err != nil {
		return err
	}
	argv := []string{"apt-get", "-q", "-y", "-o", lockTimeout, "remove"}
	for _, r := range n.of(found[n.pkg]) {
		if r.status == installed {
			argv = append(argv, r.unique)
		}
	}
	if argv[len(argv)-1] == "remove" {
		return nil
	}
	return change(ctx, h, argv...)
}
