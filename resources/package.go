package resources

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// PackageType is the type of software packages.
var PackageType = resource.Define[Package, PackageState, PackageProvider]("package")

// Package manages one package of the operating system: whether it is installed,
// and in which version.
type Package struct {
	// Name is the name of the package as the package system knows it, such as
	// "zsh", or "libc6:i386" where it has several architectures.
	Name string `ccm:"name,name,example=zsh"`
	// Ensure is "present" (in any version), "absent", "latest" (the newest that
	// the repositories offer), or the version to install. A version is written as
	// the package system writes it: "1.2.11-1" or "1:2.0-3" with an epoch. The dnf
	// provider takes a version without its release, and any release of it is
	// right; there the epoch may be left out too.
	Ensure PackageEnsure `ccm:"ensure,argv,default=present"`
}

// A PackageEnsure is what can be wanted of a package: one of the constants, or
// a version.
type PackageEnsure string

// The values of PackageEnsure that are not versions.
const (
	PackagePresent PackageEnsure = "present"
	PackageAbsent  PackageEnsure = "absent"
	PackageLatest  PackageEnsure = "latest"
)

// IsVersion reports whether e is a version.
func (e PackageEnsure) IsVersion() bool {
	return e != PackagePresent && e != PackageAbsent && e != PackageLatest
}

// JSONSchema implements schema.JSONSchemer.
func (PackageEnsure) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"enum": []any{"present", "absent", "latest"}},
		map[string]any{"type": "string", "pattern": `^[A-Za-z0-9._+:~^-]*[0-9][A-Za-z0-9._+:~^-]*$`, "examples": []any{"1.24.0-1.el9"}},
	}}
}

// PackageState is a package as it is, and how that compares with the wish.
type PackageState struct {
	// Metadata is what the package system knows of the installed package; it is
	// empty if the package is absent.
	Metadata PackageMetadata
	// Unfinished is what the package system calls a package that is neither
	// properly installed nor gone, such as half-configured. It counts as absent,
	// so that installing it again repairs it.
	Unfinished string
	// Held is set if the user told the package system to leave the package alone.
	Held bool
	// Candidate is the version that the package system would choose; filled in if
	// the wish is latest and the package is installed, empty if there is none.
	Candidate string
	// Order is the order of the package system between the installed version and
	// the wished one (for latest, the candidate): negative if the installed one is
	// older, positive if it is newer, 0 if it is the same or nothing is to be
	// compared.
	Order int
}

// PackageMetadata is what a package system knows of an installed package. What
// it does not know is empty.
type PackageMetadata struct {
	Name        string          `json:"name"` // as the package system writes it
	Version     string          `json:"version,omitempty"`
	Arch        string          `json:"arch,omitempty"`
	License     string          `json:"license,omitempty"`
	URL         string          `json:"url,omitempty"`
	Summary     string          `json:"summary,omitempty"`
	Description string          `json:"description,omitempty"`
	Provider    string          `json:"provider,omitempty"` // that reported it
	Extended    PackageExtended `json:"extended,omitzero"`
}

// PackageExtended is what only some package systems know.
type PackageExtended struct {
	Epoch   string `json:"epoch,omitempty"`
	Release string `json:"release,omitempty"`
}

// Installed reports whether the package is there in some version.
func (s PackageState) Installed() bool { return s.Metadata.Version != "" }

// CurrentEnsure implements resource.StateEnsure: it is the installed version,
// or absent.
func (s PackageState) CurrentEnsure() string {
	if !s.Installed() {
		return string(PackageAbsent)
	}
	return s.Metadata.Version
}

// PackageProvider is a package system. In Install and Upgrade, version is
// "present" or "latest" where no certain one is wished.
type PackageProvider interface {
	// Status reports the installed version and compares it with the wish.
	Status(ctx context.Context, v *host.View, want Package) (PackageState, error)
	// Install installs a package that is absent or unfinished.
	Install(ctx context.Context, h *host.Host, pkg, version string) error
	// Upgrade replaces an installed package by a newer version.
	Upgrade(ctx context.Context, h *host.Host, pkg, version string) error
	// Downgrade replaces an installed package by an older version.
	Downgrade(ctx context.Context, h *host.Host, pkg, version string) error
	// Uninstall removes a package; its configuration may stay.
	Uninstall(ctx context.Context, h *host.Host, pkg string) error
}

// ProviderIgnoresSpec implements resource.SpecIndependentProvider.
func (Package) ProviderIgnoresSpec() {}

// Validate implements resource.Spec.
func (p Package) Validate() error {
	return errors.Join(checkPackageName(p.Name), p.Ensure.check())
}

func checkPackageName(name string) error {
	switch i := strings.IndexFunc(name, notPackageChar); {
	case name == "":
		return wrong("name", "want the name of a package, got an empty string")
	case i >= 0:
		return wrong("name", "want a package name of letters, digits and . _ + : ~ -, got %q", name)
	case name[0] == '-':
		return wrong("name", "want a package name, got %q, which begins like an option", name)
	}
	return nil
}

// check reports a wish that is neither a word nor a version. What has no digit
// is taken for a word that is misspelled.
func (e PackageEnsure) check() error {
	s := string(e)
	foreign := strings.IndexFunc(s, func(c rune) bool { return c != '^' && notPackageChar(c) }) >= 0
	switch {
	case !e.IsVersion():
		return nil
	case foreign:
		return wrong("ensure", "want present, absent, latest or a version of letters, digits and . _ + : ~ ^ -, got %q", s)
	case !strings.ContainsAny(s, "0123456789") || s[0] == '-':
		err := wrong("ensure", "want present, absent, latest or a version, got %q", s)
		err.Hint = diag.DidYouMean(s, []string{"present", "absent", "latest"})
		return err
	}
	return nil
}

// notPackageChar reports whether c may not be in the name of a package.
func notPackageChar(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return false
	}
	return !strings.ContainsRune("._+:~-", c)
}

// WantedEnsure implements resource.EnsureReporter.
func (p Package) WantedEnsure() string { return string(p.Ensure) }

// BringsFiles implements resource.FileInstaller.
func (Package) BringsFiles() {}

// Decide implements resource.Spec.
func (p Package) Decide(have PackageState) (d resource.Decision) {
	wish := string(p.Ensure)
	switch {
	case p.Ensure == PackageAbsent:
		if have.Installed() {
			d.Act("Uninstall", "uninstalled")
		}
	case !have.Installed() && p.Ensure == PackagePresent:
		d.Act("Install", "installed")
	case !have.Installed() && p.Ensure == PackageLatest:
		d.Act("Install", "installed latest")
	case !have.Installed():
		d.Act("Install", "installed version "+wish)
	case p.Ensure == PackagePresent:
	case p.Ensure == PackageLatest:
		// A candidate that is older than what is installed is left alone: latest
		// never goes back.
		if have.Candidate != "" && have.Order < 0 {
			d.Act("Upgrade", "upgraded to latest")
			wish = have.Candidate
		}
	case have.Order < 0:
		d.Act("Upgrade", "upgraded to "+wish)
	case have.Order > 0:
		d.Act("Downgrade", "downgraded to "+wish)
	}
	if len(d.Actions) == 0 {
		return d
	}
	found := have.CurrentEnsure()
	if have.Unfinished != "" {
		found = have.Unfinished
	}
	d.Add("ensure", found, wish)
	if have.Held && have.Installed() {
		d.Actions = nil
		d.Err = fmt.Errorf("want %s, found %s, which is on hold and not changed", wish, found)
	}
	return d
}

// Perform implements resource.Spec.
func (p Package) Perform(ctx context.Context, h *host.Host, prov PackageProvider, a resource.Action) error {
	switch a.Verb {
	case "Install":
		return prov.Install(ctx, h, p.Name, string(p.Ensure))
	case "Upgrade":
		return prov.Upgrade(ctx, h, p.Name, string(p.Ensure))
	case "Downgrade":
		return prov.Downgrade(ctx, h, p.Name, string(p.Ensure))
	case "Uninstall":
		return prov.Uninstall(ctx, h, p.Name)
	}
	return fmt.Errorf("a package has no verb %s", a.Verb)
}
