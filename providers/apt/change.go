package apt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Install implements resources.PackageProvider.
func (packages) Install(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	names, err := parseNames(wants)
	if err != nil {
		return err
	}
	argv := []string{"apt-get", "install", "-y", "-q", "-o", "DPkg::Options::=--force-confold", "-o", lockTimeout}
	if anyHalfInstalled(ctx, &h.View, names) {
		argv = append(argv, "--reinstall") // apt would otherwise take it for installed
	}
	if want := wants[0]; want.Source != "" {
		return pkgtool.WithSource(ctx, h, want, ".deb", func(path string) error {
			if err := checkFile(ctx, &h.View, want, names[0], path); err != nil {
				return err
			}
			return performInstall(ctx, h, wants, slices.Concat(argv, downgrades(want), want.Options), []string{path})
		})
	}
	return installOffered(ctx, h, argv, wants, names)
}

// checkFile checks that a package file has the desired package.
func checkFile(ctx context.Context, v *host.View, want resources.Package, n name, path string) error {
	f, err := tool.AskFile(ctx, v, "dpkg-deb", "--show", "--showformat=${Package} ${Version}", path)
	if err != nil {
		return err
	}
	return f.Check(want, n.pkg, compareVersions)
}

// downgrades returns the option that lets apt install an older version.
func downgrades(want resources.Package) []string {
	if want.MayDowngrade() {
		return []string{"--allow-downgrades"}
	}
	return nil
}

// installOffered installs packages from repositories. It first asks apt whether it knows them,
// because apt would take an unknown name for a regular expression, and install something else for
// a virtual package.
func installOffered(ctx context.Context, h *host.Host, argv []string, wants []resources.Package, names []name) error {
	for _, n := range names {
		if err := checkArchitecture(ctx, &h.View, n); err != nil {
			return err
		}
	}
	refreshed, err := tool.Refresh(ctx, h, wants[0])
	if err != nil {
		return err
	}
	known, err := offers(ctx, &h.View, names, wants[0].Options)
	// Of a name that only other packages mention, apt has no version.
	if i := slices.IndexFunc(names, func(n name) bool { return len(known[n].versions) == 0 }); err == nil && !refreshed && i >= 0 {
		if refreshed, err = tool.RefreshForMissing(ctx, h); err != nil {
			return errors.Join(noPackage(names[i]), err)
		}
		if refreshed {
			known, err = offers(ctx, &h.View, names, wants[0].Options)
		}
	}
	if err != nil {
		return err
	}
	if want := wants[0]; want.Ensure.IsVersion() || want.Ensure.IsConstraint() {
		argv = append(argv, downgrades(want)...)
	}
	argv = append(argv, wants[0].Options...)
	var specs, others []string
	for i, want := range wants {
		o, ok := known[names[i]]
		version, err := o.best(want.Ensure)
		switch desired := string(want.Ensure); {
		case err != nil:
			return err
		case !ok:
			return noPackage(names[i])
		case want.Ensure.IsVersion():
			specs = append(specs, names[i].String()+"="+desired)
			if !slices.Contains(o.versions, desired) && len(o.versions) > 0 {
				others = append(others, fmt.Sprintf("(apt has %s of it)", strings.Join(o.versions, ", ")))
			}
		case version == "" && want.Ensure.IsConstraint():
			return noVersion(want, names[i], o)
		case version == "":
			return nothingToInstall(ctx, &h.View, names[i])
		case want.Ensure == resources.PackagePresent:
			specs = append(specs, names[i].String())
		default:
			specs = append(specs, names[i].String()+"="+version)
		}
	}
	if err = performInstall(ctx, h, wants, argv, specs); err != nil && len(others) > 0 {
		return fmt.Errorf("%w\n%s", err, strings.Join(others, "\n"))
	}
	return err
}

// noVersion returns the error that apt does not have the desired version.
func noVersion(want resources.Package, n name, o offer) error {
	if len(o.versions) == 0 {
		return pkgtool.Missing("%w", diag.SubjectCannot("apt", "find version %s of %s", want.Ensure, n))
	}
	return diag.SubjectCannot("apt", "find version %s of %s, only %s", want.Ensure, n, strings.Join(o.versions, ", "))
}

// anyHalfInstalled reports whether dpkg was stopped while it unpacked one of the packages. If
// that is not known, apt will report the problem.
func anyHalfInstalled(ctx context.Context, v *host.View, names []name) bool {
	found, err := records(ctx, v, pkgsOf(names))
	return err == nil && slices.ContainsFunc(names, func(n name) bool {
		r, err := pick(n.of(found[n.pkg]))
		return err == nil && isHalfInstalled(r)
	})
}

// nothingToInstall returns the reason why apt has no candidate for n.
func nothingToInstall(ctx context.Context, v *host.View, n name) error {
	pkgs, err := providersOf(ctx, v, n)
	switch {
	case err != nil:
		return err
	case len(pkgs) > 0:
		return diag.OfKind(n.String(), "a virtual package (use one that provides it: %s)", strings.Join(pkgs, ", "))
	}
	return pkgtool.Missing("%w", diag.SubjectCannot("apt", "find an installable version of %s", n)) // other packages name it
}

// Upgrade implements resources.PackageProvider. What is upgraded after the index was
// refreshed may have been the latest.
func (p packages) Upgrade(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return tool.Upgrade(ctx, h, wants, p)
}

// Downgrade implements resources.PackageProvider.
func (p packages) Downgrade(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return p.Install(ctx, h, wants...)
}

// Uninstall implements resources.PackageProvider. Configuration files stay. A package is removed
// for every architecture that its name means.
func (p packages) Uninstall(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	names, err := parseNames(wants)
	if err != nil {
		return err
	}
	found, err := records(ctx, &h.View, pkgsOf(names))
	if err != nil {
		return err
	}
	verb, is := "remove", isRemovable
	if wants[0].Ensure == resources.PackagePurged {
		verb, is = "purge", isResidue
	}
	var specs []string
	for _, n := range names {
		specs = append(specs, n.specs(found, is)...)
	}
	if len(specs) == 0 {
		return nil
	}
	if resource.DesiredFrom(ctx) != nil {
		if t, err := simulate(ctx, &h.View, "remove", wants[0], specs); err == nil {
			if err := pkgtool.CheckRemovals(ctx, wants, t.removes, withoutArch); err != nil {
				return err
			}
		}
	}
	argv := []string{"apt-get", "-q", "-y", "-o", lockTimeout}
	if slices.ContainsFunc(names, func(n name) bool { return slices.ContainsFunc(n.of(found[n.pkg]), isHalfInstalled) }) {
		argv = append(argv, "-o", "DPkg::Options::=--force-remove-reinstreq") // dpkg would otherwise demand a new installation first
	}
	return change(ctx, h, wants, slices.Concat(argv, []string{verb}, wants[0].Options, specs)...)
}

// Hold implements resources.PackageProvider.
func (packages) Hold(ctx context.Context, h *host.Host, hold bool, wants ...resources.Package) error {
	return mark(ctx, h, map[bool]string{true: "hold", false: "unhold"}[hold], wants)
}

// MarkManual implements resources.PackageProvider.
func (packages) MarkManual(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return mark(ctx, h, "manual", wants)
}

// mark runs a command of apt-mark on packages.
func mark(ctx context.Context, h *host.Host, command string, wants []resources.Package) error {
	names, err := parseNames(wants)
	if err != nil {
		return err
	}
	argv := []string{"apt-mark", command}
	for _, n := range names {
		argv = append(argv, n.String())
	}
	return run(ctx, h, argv...)
}

// isHalfInstalled reports whether dpkg was stopped while it unpacked or removed a package.
func isHalfInstalled(r record) bool { return r.status == "half-installed" }

// isRemovable reports whether a package is installed, or a change of it is unfinished.
func isRemovable(r record) bool {
	return r.status == installed || slices.Contains(unfinished, r.status)
}

// isResidue reports whether any part of a package is left.
func isResidue(r record) bool { return r.status != "not-installed" }

// specs returns the unique names of those packages meant by n that is accepts.
func (n name) specs(found map[string][]record, is func(record) bool) (specs []string) {
	for _, r := range n.of(found[n.pkg]) {
		if is(r) {
			specs = append(specs, r.unique)
		}
	}
	return specs
}
