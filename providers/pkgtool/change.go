package pkgtool

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Install implements resources.PackageProvider.
func (p *Packages) Install(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return p.install(ctx, h, "install", wants)
}

// Upgrade implements resources.PackageProvider. What is upgraded after the index was
// refreshed may have been the latest.
func (p *Packages) Upgrade(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return p.Tool.Upgrade(ctx, h, wants, p)
}

// Downgrade implements resources.PackageProvider.
func (p *Packages) Downgrade(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return p.install(ctx, h, "downgrade", wants)
}

// install installs or downgrades packages from their source or from repositories.
func (p *Packages) install(ctx context.Context, h *host.Host, verb string, wants []resources.Package) error {
	err := p.fetch(ctx, h, verb, wants)
	if _, missing := errors.AsType[*MissingError](err); err != nil && (missing || p.Unavailable != nil && p.Unavailable(err.Error())) {
		if refreshed, failure := p.RefreshForMissing(ctx, h); refreshed {
			err = p.fetch(ctx, h, verb, wants)
		} else if failure != nil {
			err = errors.Join(err, failure)
		}
	}
	if err != nil {
		return err
	}
	states, errs := p.States(ctx, &h.View, wants)
	for i, want := range wants {
		if errs[i] == nil && !states[i].Installed() && states[i].Problem == "" {
			return fmt.Errorf("%s installed a different package for %s (use the name of the package itself, not what it provides)", p.Name, want.Name)
		}
	}
	return errors.Join(errs...)
}

// fetch installs packages from repositories, after refreshing an index that is too old.
func (p *Packages) fetch(ctx context.Context, h *host.Host, verb string, wants []resources.Package) error {
	if _, err := p.Refresh(ctx, h, wants[0]); err != nil {
		return err
	}
	if want := wants[0]; want.Source != "" {
		return WithSource(ctx, h, want, p.Suffix, func(path string) error {
			if err := p.checkFile(ctx, &h.View, want, path); err != nil {
				return err
			}
			return p.run(ctx, h, verb, wants, []string{path})
		})
	}
	specs, err := p.specs(ctx, &h.View, wants)
	if err != nil {
		return err
	}
	return p.run(ctx, h, verb, wants, specs)
}

// specs returns the packages to install in the syntax of the package manager. For a constraint it
// chooses a version first.
func (p *Packages) specs(ctx context.Context, v *host.View, wants []resources.Package) (specs []string, err error) {
	var known [][]string
	asks := p.AsksFirst || wants[0].Ensure.IsConstraint()
	if asks {
		if known, err = p.Offers(ctx, v, wants, make([]resources.PackageState, len(wants))); err != nil {
			return nil, err
		}
	}
	for i, want := range wants {
		version := ""
		if want.Ensure.IsVersion() {
			version = string(want.Ensure)
		}
		if asks {
			best, err := p.choose(ctx, v, want, known[i])
			if err != nil {
				return nil, err
			}
			if want.Ensure.IsConstraint() || want.Ensure.IsVersion() {
				version = best
			}
		}
		spec, err := p.Spec(want.Name, version)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

// Uninstall implements resources.PackageProvider.
func (p *Packages) Uninstall(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	names := NamesOf(wants)
	for _, name := range names {
		if err := p.CheckName(name); err != nil {
			return err
		}
	}
	return p.run(ctx, h, "remove", wants, names)
}

// MarkManual implements resources.PackageProvider. [Packages.StatusAll] has failed for its packages.
func (p *Packages) MarkManual(context.Context, *host.Host, ...resources.Package) error {
	return errManual(p.Name)
}

func errManual(provider string) error {
	return diag.SubjectCannot(provider, "mark packages as manually installed (remove manual)")
}

// Hold implements resources.PackageProvider.
func (p *Packages) Hold(ctx context.Context, h *host.Host, hold bool, wants ...resources.Package) error {
	argv := p.HoldCommand(hold)
	if hold && p.HoldSpec != nil {
		states, errs := p.States(ctx, &h.View, wants)
		for i, want := range wants {
			argv = append(argv, p.HoldSpec(want.Name, states[i].Metadata.Version))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		return p.runOne(ctx, h, wants, argv)
	}
	for _, want := range wants {
		argv = append(argv, p.plain(want.Name))
	}
	return p.runOne(ctx, h, wants, argv)
}

// run changes packages, unless that would remove others that the site wants. If the package
// manager cannot simulate the change, it reports the reason when it makes the change.
func (p *Packages) run(ctx context.Context, h *host.Host, verb string, wants []resources.Package, specs []string) error {
	if p.Simulate != nil && resource.DesiredFrom(ctx) != nil && wants[0].Source == "" {
		if t, err := p.Simulate(ctx, &h.View, verb, wants[0], specs); err == nil {
			if err := CheckRemovals(ctx, wants, t.Removes, p.plain); err != nil {
				return err
			}
		}
	}
	if p.Run != nil {
		return p.Run(ctx, h, verb, wants, specs)
	}
	return p.runOne(ctx, h, wants, slices.Concat(p.Command(verb, wants[0]), wants[0].Options, specs))
}

func (p *Packages) runOne(ctx context.Context, h *host.Host, wants []resources.Package, argv []string) error {
	if p.RunOne != nil {
		return p.RunOne(ctx, h, wants, argv)
	}
	return p.Change(ctx, h, func(run func(argv ...string) (host.Result, error)) error {
		_, err := run(argv...)
		return err
	})
}

// NamesOf returns the names of packages.
func NamesOf(wants []resources.Package) []string {
	names := make([]string, len(wants))
	for i, want := range wants {
		names[i] = want.Name
	}
	return names
}
