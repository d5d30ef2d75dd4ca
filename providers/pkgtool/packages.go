package pkgtool

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// Packages is a provider of packages, defined by the differences between package managers.
// Versions are complete texts that the package manager can order. Versions of users may leave
// parts out, such as the release of an rpm package.
type Packages struct {
	*Tool
	// Name is the name of the provider.
	Name string
	// Repositories are the paths of the package manager's repository configuration.
	Repositories []string
	// CheckName returns the mistake in the name of a package.
	CheckName func(name string) error
	// WithoutArch returns a name without its architecture; nil if names have none.
	WithoutArch func(name string) string
	// States returns the state of each package: Metadata, Problem and Residue. An epoch in
	// Metadata is part of the version.
	States func(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error)
	// Offers returns, for each package, the versions in repositories that could replace the
	// installed one. All packages have the same options.
	Offers func(ctx context.Context, v *host.View, wants []resources.Package, haves []resources.PackageState) ([][]string, error)
	// AsksFirst makes every installation ask for Offers first, because the package manager would
	// install something else for a name that is not a package.
	AsksFirst bool
	// Compare returns a negative number if version a is older than b, a positive one if it is
	// newer. A part that one of them leaves out is not compared.
	Compare func(ctx context.Context, v *host.View, a, b string) (int, error)
	// Incomplete reports whether a user's version may leave out a part that decides the order; nil
	// if none does.
	Incomplete func(version string) bool
	// ShownVersion returns a version as reports show it; nil shows all of it.
	ShownVersion func(version string) string
	// Spec returns a package in the syntax of the package manager, with a version, which is "" for
	// any.
	Spec func(name, version string) (string, error)
	// Command returns the words of a command without options and packages. The verb is
	// "install", "downgrade" or "remove".
	Command func(verb string, want resources.Package) []string
	// Run changes packages; nil runs the Command.
	Run func(ctx context.Context, h *host.Host, verb string, wants []resources.Package, specs []string) error
	// RunOne runs one command for packages; nil fails if its exit status is that of a failure.
	RunOne func(ctx context.Context, h *host.Host, wants []resources.Package, argv []string) error
	// Unavailable reports whether a failure means that no repository has a package, or that the
	// index is too old; nil if AsksFirst finds that.
	Unavailable func(failure string) bool
	// Simulate returns the changes that the package manager would make, or the reason why it
	// cannot; nil if it has no simulation.
	Simulate func(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (Simulation, error)
	// Files returns the files of packages, from lists that the package manager keeps; nil if it keeps none.
	Files func(ctx context.Context, v *host.View, names []string) *resource.FileLists
	// SimulatesChanges is set if Simulate is known to work for installed packages that get another
	// version.
	SimulatesChanges bool
	// HoldCommand returns the words, without names, of the command that holds or releases
	// packages; nil if there is none, for the reason in NoHold.
	HoldCommand func(hold bool) []string
	NoHold      string
	// HoldSpec returns what holds a package in this version, in place of its name; nil if the name
	// does.
	HoldSpec func(name, version string) string
	// Holds returns the names of the packages on hold.
	Holds func(ctx context.Context, v *host.View, wants []resources.Package) ([]string, error)
	// Suffix ends the names of package files, such as ".rpm". File returns the package in one; nil
	// if the package manager cannot know.
	Suffix string
	File   func(ctx context.Context, v *host.View, path string) (File, error)
	// List returns the names of installed packages that begin with prefix; nil if that takes long.
	List func(ctx context.Context, v *host.View, prefix string) ([]string, error)
}

// A Simulation has the names of the packages that a package manager would install and remove.
type Simulation struct{ Installs, Removes []string }

var (
	_ resources.PackageProvider = (*Packages)(nil)
	_ Provider                  = (*Packages)(nil)
	_ resource.Lister           = (*Packages)(nil)
)

// A Provider is a provider of packages that handles many of them at once.
type Provider interface {
	resources.PackageProvider
	resource.BulkProvider[resources.Package, resources.PackageState]
}

// Bulk implements resource.BulkProvider.
func (p *Packages) Bulk() resource.Bulk[resources.Package, resources.PackageState] {
	b := resources.PackagesInBulk(p)
	b.Status, b.Predict = p.StatusAll, p.PredictAll
	b.Inventory, b.CompanionText = p.inventory, p.companionText
	return b
}

// Names implements resource.Lister.
func (p *Packages) Names(ctx context.Context, v *host.View, prefix string) ([]string, error) {
	if p.List == nil {
		return nil, nil
	}
	return p.List(ctx, v, prefix)
}

// Status implements resources.PackageProvider.
func (p *Packages) Status(ctx context.Context, v *host.View, want resources.Package) (resources.PackageState, error) {
	states, errs := p.StatusAll(ctx, v, []resources.Package{want})
	return states[0], errs[0]
}

// StatusAll asks once for the installed packages, and once for
// available versions of the packages that need them.
func (p *Packages) StatusAll(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	return StatusAll(ctx, v, wants, p.statusAll)
}

func (p *Packages) statusAll(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	states, errs := make([]resources.PackageState, len(wants)), make([]error, len(wants))
	var named, open []int
	for i, want := range wants {
		if errs[i] = p.CheckName(want.Name); errs[i] == nil && want.Hold != nil && p.HoldCommand == nil {
			errs[i] = diag.SubjectCannot(p.Name, "hold packages with a command (%s)", p.NoHold)
		} else if errs[i] == nil && want.Manual {
			errs[i] = errManual(p.Name)
		}
		if errs[i] == nil {
			named = append(named, i)
		}
	}
	if len(named) > 0 {
		some, failed := p.States(ctx, v, pick(wants, named))
		for n, i := range named {
			states[i], errs[i] = some[n], failed[n]
		}
	}
	for _, i := range named {
		if errs[i] == nil {
			errs[i] = p.compare(ctx, v, wants[i], &states[i])
		}
		if errs[i] == nil && p.asksOffers(wants[i], states[i]) {
			open = append(open, i)
		}
	}
	p.resolve(ctx, v, wants, states, errs, open)
	p.markHeld(ctx, v, wants, states, errs)
	return states, errs
}

// compare compares the installed version with the desired one, as far as that needs no longer a
// repositories.
func (p *Packages) compare(ctx context.Context, v *host.View, want resources.Package, have *resources.PackageState) (err error) {
	if !have.Installed() {
		if want.Ensure.IsVersion() { // an invalid version is reported at once
			_, err = p.Compare(ctx, v, string(want.Ensure), string(want.Ensure))
		}
		return err
	}
	switch {
	case want.Ensure.IsVersion():
		have.Order, err = p.Compare(ctx, v, full(*have), string(want.Ensure))
	case want.Ensure.IsConstraint():
		var allowed bool
		allowed, err = p.allows(ctx, v, want.Ensure, full(*have))
		have.Violates = !allowed
	}
	return err
}

// full returns the installed version with its epoch.
func full(have resources.PackageState) string {
	if epoch := have.Metadata.Extension.Epoch; epoch != "" {
		return epoch + ":" + have.Metadata.Version
	}
	return have.Metadata.Version
}

// allows reports whether a constraint allows a version.
func (p *Packages) allows(ctx context.Context, v *host.View, e resources.PackageEnsure, version string) (bool, error) {
	return e.Allows(func(other string) (int, error) { return p.Compare(ctx, v, version, other) })
}

// asksOffers reports whether available versions matter: for the candidate, or for the direction
// of a change.
func (p *Packages) asksOffers(want resources.Package, have resources.PackageState) bool {
	return have.Installed() && (want.Ensure == resources.PackageLatest || have.Violates ||
		have.Order != 0 && p.Incomplete != nil && p.Incomplete(string(want.Ensure)))
}

// resolve completes the states of the packages with the indices in open.
func (p *Packages) resolve(ctx context.Context, v *host.View, wants []resources.Package, states []resources.PackageState, errs []error, open []int) {
	if len(open) == 0 {
		return
	}
	haves := make([]resources.PackageState, len(open))
	for n, i := range open {
		haves[n] = states[i]
	}
	known, err := p.Offers(ctx, v, pick(wants, open), haves)
	for n, i := range open {
		if wants[i].Ensure == resources.PackageLatest {
			v.Overlay().RecordLook(overlay.RepositoryLook, wants[i].Name, false) // there may be a newer one
			v.Overlay().DependsOn(p.Repositories...)
		}
		if errs[i] = err; err == nil {
			errs[i] = p.prefer(ctx, v, wants[i], &states[i], known[n])
		}
		states[i].IndexAge = p.OlderIndex(ctx, v, wants[i])
	}
}

// prefer sets the candidate, and the order of the installed version.
func (p *Packages) prefer(ctx context.Context, v *host.View, want resources.Package, have *resources.PackageState, versions []string) error {
	best, err := p.newest(ctx, v, want.Ensure, versions)
	if err != nil || best == "" {
		return err
	}
	if have.Order, err = p.Compare(ctx, v, full(*have), best); err != nil || want.Ensure.IsVersion() {
		return err
	}
	if have.Candidate = best; strings.HasPrefix(best, have.Metadata.Extension.Epoch+":") {
		have.Candidate = p.shown(best)
	}
	return nil
}

func (p *Packages) shown(version string) string {
	if p.ShownVersion == nil {
		return version
	}
	return p.ShownVersion(version)
}

// newest returns the newest of the versions that ensure allows; "" if there is none.
func (p *Packages) newest(ctx context.Context, v *host.View, e resources.PackageEnsure, versions []string) (best string, err error) {
	for _, version := range versions {
		ok := true
		switch {
		case e.IsVersion():
			var order int
			order, err = p.Compare(ctx, v, version, string(e))
			ok = order == 0
		case e.IsConstraint():
			ok, err = p.allows(ctx, v, e, version)
		}
		if ok && err == nil && best != "" {
			var order int
			order, err = p.Compare(ctx, v, version, best)
			ok = order > 0
		}
		if err != nil {
			return "", err
		}
		if ok {
			best = version
		}
	}
	return best, nil
}

// choose is newest for an installation: without a version it returns an error.
func (p *Packages) choose(ctx context.Context, v *host.View, want resources.Package, versions []string) (string, error) {
	best, err := p.newest(ctx, v, want.Ensure, versions)
	switch {
	case best != "" || err != nil:
		return best, err
	case len(versions) == 0:
		return "", Missing("no repository provides package %s", want.Name)
	}
	shown := make([]string, len(versions))
	for i, version := range versions {
		shown[i] = p.shown(version)
	}
	return "", Missing("no repository provides version %s of %s, only %s", want.Ensure, want.Name, strings.Join(shown, ", "))
}

// markHeld sets Held. A failure to ask fails only the packages that manage their hold.
func (p *Packages) markHeld(ctx context.Context, v *host.View, wants []resources.Package, states []resources.PackageState, errs []error) {
	if p.Holds == nil {
		return
	}
	held, err := p.Holds(ctx, v, wants)
	for i, want := range wants {
		if errs[i] == nil && want.Hold != nil {
			errs[i] = err
		}
		states[i].Held = slices.Contains(held, p.plain(want.Name))
	}
}

func (p *Packages) plain(name string) string {
	if p.WithoutArch == nil {
		return name
	}
	return p.WithoutArch(name)
}
