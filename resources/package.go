package resources

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/resource"
)

// PackageType is the type of software packages.
var PackageType = resource.Define[Package, PackageState, PackageProvider]("package")

var _ resource.Recreator[Package, PackageState] = Package{}

// Package manages one package of the operating system: whether it is installed,
// and in which version. The providers pkg and brew were made from recorded
// outputs, and were not run on the real system.
type Package struct {
	// Name is the name of the package in the package system, such as "zsh", or "libc6:i386" for
	// another architecture.
	Name string `ccm:"name,name,example=zsh,kind=package"`
	// Ensure is "present" (in any version), "absent", "purged" (absent, also its configuration),
	// "latest" (the newest version in the repositories), a version, or constraints such as ">= 1.2, <
	// 2". Versions are written as in the package system: "1.2.11-1", or "1:2.0-3" with an epoch. With
	// dnf and zypper, release and epoch can be omitted, with pacman the release.
	Ensure PackageEnsure `ccm:"ensure,argv,default=present"`
	// Options are additional arguments for the command that installs or removes the package, such as "
	// --no-install-recommends".
	Options []string `ccm:"options"`
	// Refresh is the maximum age of the package index, such as "1d". An older index is updated before
	// the package is installed or upgraded. By default it is updated only if it does not contain the
	// package and is older than a day.
	Refresh host.Duration `ccm:"refresh"`
	// Hold prevents other changes of the package (apt-mark hold, dnf versionlock, zypper addlock, the
	// version in /etc/apk/world). By default a hold is not changed, and a held package is not changed
	// either. Pacman has no such command.
	Hold *bool `ccm:"hold"`
	// Manual marks an installed package as installed on purpose, so that "apt autoremove" does not remove
	// it when the packages that required it are gone. Apt marks what ccm installs anyway. Only apt
	// supports it.
	Manual bool `ccm:"manual"`
	// AllowDowngrade allows an older version to replace a newer one. The default is true.
	AllowDowngrade *bool `ccm:"allow_downgrade"`
	// Source is a package file to install, a path or an http or https URL. A relative path is relative
	// to the script or manifest with the resource. It has at most 512 MiB.
	Source string `ccm:"source,kind=path"`
	// Checksum is the SHA-256 of the source in hexadecimal. It is required if the source is a URL.
	Checksum Checksum `ccm:"checksum"`
}

// PackageState is the state of a package, compared with the desired version.
type PackageState struct {
	// Metadata describes the installed package; empty if the package is absent.
	Metadata PackageMetadata
	// Problem is the package system's word for a package that is neither properly installed nor
	// absent, such as half-configured. Such a package counts neither as installed nor as absent: it
	// is installed again, or removed.
	Problem string
	// Held is set if the package is on hold.
	Held bool
	// Automatic is set if the package is installed only because others require it. It is set only if
	// manual is desired.
	Automatic bool
	// Residue is set if the package is absent and its configuration is not.
	Residue bool
	// Candidate is the version that the package system would choose, "" if there is none. It is
	// set if latest is desired and the package is installed, or if Violates is set.
	Candidate string
	// Violates is set if a constraint does not allow the installed version.
	Violates bool
	// IndexAge is the age of the package index if that is older than desired: "3 days old".
	// Otherwise it is "".
	IndexAge string
	// Order compares the installed version with the desired one or the candidate, in the order of
	// the package system: negative if the installed one is older, positive if it is newer, 0 if it
	// is the same or there is nothing to compare.
	Order int
}

// PackageMetadata is a package system's description of an installed package. Unknown fields are
// empty.
type PackageMetadata struct {
	Name        string           `json:"name"` // as the package system writes it
	Version     string           `json:"version,omitempty"`
	Arch        string           `json:"arch,omitempty"`
	License     string           `json:"license,omitempty"`
	URL         string           `json:"url,omitempty"`
	Summary     string           `json:"summary,omitempty"`
	Description string           `json:"description,omitempty"`
	Provider    string           `json:"provider,omitempty"` // the provider that reported it
	Extension   PackageExtension `json:"extended,omitzero"`
}

// PackageExtension has fields of some package systems only.
type PackageExtension struct {
	Epoch   string `json:"epoch,omitempty"`
	Release string `json:"release,omitempty"`
}

// Installed reports whether some version of the package is installed.
func (s PackageState) Installed() bool { return s.Metadata.Version != "" }

// Removable reports whether a part of the package is left to remove, its configuration aside.
func (s PackageState) Removable() bool { return s.Installed() || s.Problem != "" }

// CurrentEnsure implements resource.StateEnsure: it is the installed version,
// or absent.
func (s PackageState) CurrentEnsure() string {
	if !s.Installed() {
		return string(PackageAbsent)
	}
	return s.Metadata.Version
}

// PackageProvider is a package system. Its verbs take the packages of one transaction: one, or
// several for which [PackagesInBulk] allows one transaction.
type PackageProvider interface {
	// Status reports the installed version and compares it with the desired one.
	Status(ctx context.Context, v *host.View, want Package) (PackageState, error)
	// Install installs packages that are absent or unfinished.
	Install(ctx context.Context, h *host.Host, wants ...Package) error
	// Upgrade replaces installed packages by newer versions.
	Upgrade(ctx context.Context, h *host.Host, wants ...Package) error
	// Downgrade replaces installed packages by older versions.
	Downgrade(ctx context.Context, h *host.Host, wants ...Package) error
	// Uninstall removes packages; their configuration may stay unless they are purged.
	Uninstall(ctx context.Context, h *host.Host, wants ...Package) error
	// Hold puts packages on hold, or releases them.
	Hold(ctx context.Context, h *host.Host, hold bool, wants ...Package) error
	// MarkManual marks installed packages as installed on purpose.
	MarkManual(ctx context.Context, h *host.Host, wants ...Package) error
}

// Traits implements resource.Characterized.
func (Package) Traits() resource.Traits {
	return resource.Traits{ProviderIgnoresSpec: true, BringsFiles: true, EnsureIsVersion: true}
}

// Validate implements resource.Spec.
func (p Package) Validate() error {
	err := errors.Join(checkPackageName(p.Name), p.Ensure.check())
	switch {
	case slices.Contains(p.Options, ""):
		err = errors.Join(err, wrong("options", "%w", diag.Expected("words").Got("an empty one")))
	case p.isToBeHeld() && p.Ensure.IsAbsent():
		err = errors.Join(err, wrong("hold", "an absent package cannot be held"))
	case p.Manual && p.Ensure.IsAbsent():
		err = errors.Join(err, wrong("manual", "an absent package cannot be marked"))
	case p.Source != "" && (p.Ensure == PackageLatest || p.Ensure.IsAbsent() || p.Ensure.IsConstraint()):
		err = errors.Join(err, wrong("source", "requires ensure = \"present\" or the version of the source"))
	case p.Source == "" && p.Checksum != "":
		err = errors.Join(err, wrong("checksum", "requires source"))
	case fetch.IsURL(p.Source) && p.Checksum == "":
		err = errors.Join(err, wrong("source", "a package from a URL requires a checksum"))
	}
	return err
}

// ResolvePaths implements resource.PathResolver.
func (p *Package) ResolvePaths(dir string) {
	if p.Source != "" && !filepath.IsAbs(p.Source) && !fetch.IsURL(p.Source) {
		p.Source = filepath.Join(dir, p.Source)
	}
}

func checkPackageName(name string) error {
	switch i := strings.IndexFunc(name, notPackageChar); {
	case name == "":
		return wrong("name", "%w", diag.Expected("the name of a package").Got("an empty string"))
	case i >= 0:
		return wrong("name", "%w", diag.Expected("a package name of letters, digits and . _ + : ~ @ -").Got("%q", name))
	case name[0] == '@':
		return wrong("name", "%w", diag.Expected("a package name").Got("%q, which begins like that of a group", name))
	case name[0] == '-':
		return wrong("name", "%w", diag.Expected("a package name").Got("%q, which begins like an option", name))
	}
	return nil
}

// notPackageChar reports whether c must not be in the name of a package.
func notPackageChar(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return false
	}
	return !strings.ContainsRune("._+:~@-", c)
}

// MayDowngrade reports whether a newer version may be replaced by an older one.
func (p Package) MayDowngrade() bool { return p.AllowDowngrade == nil || *p.AllowDowngrade }

// WantedEnsure implements resource.EnsureReporter.
func (p Package) WantedEnsure() string { return string(p.Ensure) }

// Recreate implements resource.Recreator: the version of the removed package or, if the repositories
// have it no longer, any.
func (p Package) Recreate(have PackageState) (want, otherwise *Package, note string) {
	if !have.Installed() {
		return nil, nil, ""
	}
	if p.Ensure == PackagePurged {
		note = "its configuration is that of the package"
	}
	as := func(ensure PackageEnsure) *Package {
		again := Package{Name: p.Name, Ensure: ensure, Options: p.Options, Source: p.Source, Checksum: p.Checksum}
		if have.Held {
			again.Hold = new(true)
		}
		return &again
	}
	return as(PackageEnsure(have.Metadata.Version)), as(PackagePresent), note
}

// Decide implements resource.Spec.
func (p Package) Decide(have PackageState) (d resource.Decision) {
	desired := p.decideVersion(have, &d)
	found := have.CurrentEnsure()
	switch {
	case have.Problem != "":
		found = have.Problem
	case have.Residue && p.Ensure == PackagePurged:
		found = "configured" // its configuration is left
	}
	if len(d.Actions) > 0 || d.Err != nil {
		d.Add("ensure", found, desired)
	}
	held := have.Held && (have.Installed() || p.Ensure.IsAbsent() && have.Problem != "")
	switch {
	case d.Err != nil:
	case len(d.Actions) > 0 && held && p.Hold == nil:
		d.Err = diag.Expected("%s", desired).Found("%s, which is on hold", found)
	case have.Order > 0 && !p.MayDowngrade() && d.Actions != nil && d.Actions[0].Verb == "Downgrade":
		d.Err = diag.Expected("%s", desired).Found("%s, which is newer: allow_downgrade is false", found)
	}
	if d.Err != nil {
		d.Actions, d.Uncertain = nil, ""
		return d
	}
	if p.Manual && have.Automatic && len(d.Actions) == 0 {
		d.Add("manual", "false", "true")
		d.AddAction("MarkManual", "marked as manually installed")
	}
	p.decideHold(have.Held && (have.Installed() || len(d.Actions) > 0), &d)
	return d
}

// InOrder reports whether the package is as desired, its hold aside.
func (p Package) InOrder(have PackageState) bool {
	p.Hold, have.Held = nil, false
	return p.Decide(have).Stable()
}

// decideVersion adds the action for the version, and returns the desired version.
func (p Package) decideVersion(have PackageState, d *resource.Decision) (desired string) {
	desired = string(p.Ensure)
	switch {
	case p.Ensure == PackagePurged:
		if have.Removable() || have.Residue {
			d.AddAction("Uninstall", "purged")
		}
	case p.Ensure == PackageAbsent:
		if have.Removable() {
			d.AddAction("Uninstall", "uninstalled")
		}
	case !have.Installed() && p.Ensure.IsVersion():
		d.AddAction("Install", "installed version "+desired)
	case !have.Installed() && p.Ensure == PackageLatest:
		d.AddAction("Install", "installed latest")
	case !have.Installed():
		d.AddAction("Install", "installed")
	case p.Ensure == PackagePresent:
	case p.Ensure.IsConstraint():
		switch {
		case !have.Violates:
		case have.Candidate == "" && have.IndexAge == "":
			d.Err = diag.Expected("%s", desired).Found("%s, and no repository provides such a version", have.Metadata.Version)
		case have.Order > 0:
			d.AddAction("Downgrade", "downgraded")
			desired = have.Candidate
		default:
			d.AddAction("Upgrade", "upgraded")
			desired = cmp.Or(have.Candidate, desired)
		}
	case p.Ensure == PackageLatest:
		// A candidate older than the installed version is ignored: latest never downgrades.
		switch {
		case have.Candidate != "" && have.Order < 0:
			d.AddAction("Upgrade", "upgraded to latest")
			desired = have.Candidate
		case have.IndexAge != "":
			d.AddAction("Upgrade", "upgraded to latest")
			d.Uncertain = "the package index is " + have.IndexAge + " and is refreshed first"
		}
	case have.Order < 0:
		d.AddAction("Upgrade", "upgraded to "+desired)
	case have.Order > 0:
		d.AddAction("Downgrade", "downgraded to "+desired)
	}
	return desired
}

// decideHold adds the actions for the hold. A held package is released before a change.
func (p Package) decideHold(held bool, d *resource.Decision) {
	if p.Hold == nil {
		return
	}
	hold, changes := *p.Hold, len(d.Actions) > 0
	if held && changes || held && !hold {
		d.Actions = append([]resource.Action{{Verb: "Release", Phrase: "released"}}, d.Actions...)
	}
	if hold && (changes || !held) {
		d.AddAction("Hold", "held")
	}
	if hold != held && (held || hold) {
		d.Add("hold", strconv.FormatBool(held), strconv.FormatBool(hold))
	}
}

// Perform implements resource.Spec.
func (p Package) Perform(ctx context.Context, h *host.Host, prov PackageProvider, a resource.Action) error {
	return performPackages(ctx, h, prov, []Package{p}, a)
}

// PackagesInBulk returns what every provider does for many packages at once.
func PackagesInBulk(prov PackageProvider) resource.Bulk[Package, PackageState] {
	return resource.Bulk[Package, PackageState]{
		Together: Package.together,
		Perform: func(ctx context.Context, h *host.Host, wants []Package, a resource.Action) error {
			return performPackages(ctx, h, prov, wants, a)
		},
	}
}

// together reports whether packages share a transaction: they share a transaction if their ensure is the
// same, or a version for each.
func (p Package) together(other Package) bool {
	same := p.Ensure == other.Ensure || p.Ensure.IsVersion() && other.Ensure.IsVersion()
	return same && p.Source == "" && other.Source == "" && slices.Equal(p.Options, other.Options) &&
		p.Refresh == other.Refresh && p.MayDowngrade() == other.MayDowngrade() && p.Manual == other.Manual && reflect.DeepEqual(p.Hold, other.Hold)
}

// performPackages performs an action for packages that share a transaction.
func performPackages(ctx context.Context, h *host.Host, prov PackageProvider, wants []Package, a resource.Action) error {
	switch a.Verb {
	case "Install":
		return keepHold(ctx, h, prov, wants, prov.Install)
	case "Upgrade":
		return keepHold(ctx, h, prov, wants, prov.Upgrade)
	case "Downgrade":
		return keepHold(ctx, h, prov, wants, prov.Downgrade)
	case "Uninstall":
		return prov.Uninstall(ctx, h, wants...)
	case "MarkManual":
		return prov.MarkManual(ctx, h, wants...)
	case "Release":
		if wants[0].isToBeHeld() {
			return nil // keepHold holds it
		}
		return prov.Hold(ctx, h, false, wants...)
	case "Hold":
		return prov.Hold(ctx, h, true, wants...)
	}
	return diag.Unknown("verb of package", a.Verb, nil)
}

// keepHold changes packages. Held packages that stay on hold are released for the change, and
// held again if it fails, so that nothing else changes them before the next run.
func keepHold(ctx context.Context, h *host.Host, prov PackageProvider, wants []Package, change func(context.Context, *host.Host, ...Package) error) error {
	if !wants[0].isToBeHeld() {
		return change(ctx, h, wants...)
	}
	var held []Package
	for _, want := range wants {
		have, err := prov.Status(ctx, &h.View, want)
		if err != nil {
			return err
		}
		if have.Held {
			held = append(held, want)
		}
	}
	if len(held) == 0 {
		if err := change(ctx, h, wants...); !errors.Is(err, resource.ErrUnchanged) {
			return err
		}
		return nil // they are still held
	}
	if err := prov.Hold(ctx, h, false, held...); err != nil {
		return err
	}
	err := change(ctx, h, wants...)
	if err != nil {
		err = errors.Join(err, prov.Hold(context.WithoutCancel(ctx), h, true, held...))
	}
	return err
}

func (p Package) isToBeHeld() bool { return p.Hold != nil && *p.Hold }
