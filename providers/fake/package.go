package fake

import (
	"context"
	"fmt"

	rpmversion "github.com/knqyf263/go-rpm-version"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// newest is the version that is installed if any will do.
const newest = "1.0"

// packages offers every package in every version.
type packages struct{ m *Machine }

// packageModel is the model of packages.
func packageModel(m *Machine, real resource.Binding, order int) resource.Binding {
	return resources.PackageType.Provide(real.Name, ofFamily(real.Name, order), packages{m})
}

// managers are the package systems by family of system.
var managers = map[string]string{"debian": "apt", "rhel": "dnf", "fedora": "dnf", "suse": "zypper", "arch": "pacman", "alpine": "apk", "freebsd": "pkg"}

// ofFamily prefers the package system of the imagined machine's family, and otherwise the order
// of registration.
func ofFamily(name string, order int) resource.Suitability[resources.Package] {
	return func(f *facts.Facts, _ resources.Package) (int, error) {
		if family, err := f.Get("os.family"); err == nil && family != nil && managers[fmt.Sprint(family)] == name {
			return -1, nil
		}
		return order, nil
	}
}

// Bulk implements resource.BulkProvider.
func (p packages) Bulk() resource.Bulk[resources.Package, resources.PackageState] {
	return resources.PackagesInBulk(p)
}

// Status implements resources.PackageProvider.
func (p packages) Status(_ context.Context, _ *host.View, want resources.Package) (s resources.PackageState, _ error) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	version, ok := p.m.Packages[want.Name]
	if !ok {
		return s, nil
	}
	s.Metadata = resources.PackageMetadata{Name: want.Name, Version: version}
	s.Candidate, s.Held = version, p.m.onHold[want.Name]
	compare := func(other string) (int, error) {
		return rpmversion.NewVersion(version).Compare(rpmversion.NewVersion(other)), nil
	}
	if want.Ensure.IsVersion() {
		s.Order, _ = compare(string(want.Ensure))
	}
	if want.Ensure.IsConstraint() {
		allowed, err := want.Ensure.Allows(compare)
		if s.Violates = !allowed; err != nil || allowed {
			return s, err
		}
		s.Candidate = offered(want.Ensure)
		s.Order, _ = compare(s.Candidate)
	}
	return s, nil
}

// offered returns the version to install. For a constraint it is a version in its conditions that
// is allowed, or the newest.
func offered(e resources.PackageEnsure) string {
	if e.IsVersion() {
		return string(e)
	}
	if !e.IsConstraint() {
		return newest
	}
	bounds, _ := e.Bounds() // Validate has checked it
	for _, b := range bounds {
		for _, version := range []string{b.Version, b.Version + ".1", "0"} {
			allowed, err := e.Allows(func(other string) (int, error) {
				return rpmversion.NewVersion(version).Compare(rpmversion.NewVersion(other)), nil
			})
			if err == nil && allowed {
				return version
			}
		}
	}
	return newest
}

func (p packages) set(wants []resources.Package) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	for _, want := range wants {
		p.m.Packages[want.Name] = offered(want.Ensure)
	}
	return nil
}

// Install implements resources.PackageProvider.
func (p packages) Install(_ context.Context, _ *host.Host, wants ...resources.Package) error {
	return p.set(wants)
}

// Upgrade implements resources.PackageProvider.
func (p packages) Upgrade(_ context.Context, _ *host.Host, wants ...resources.Package) error {
	return p.set(wants)
}

// Downgrade implements resources.PackageProvider.
func (p packages) Downgrade(_ context.Context, _ *host.Host, wants ...resources.Package) error {
	return p.set(wants)
}

// Uninstall implements resources.PackageProvider.
func (p packages) Uninstall(_ context.Context, _ *host.Host, wants ...resources.Package) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	for _, want := range wants {
		delete(p.m.Packages, want.Name)
	}
	return nil
}

// MarkManual implements resources.PackageProvider.
func (p packages) MarkManual(context.Context, *host.Host, ...resources.Package) error { return nil }

// Hold implements resources.PackageProvider.
func (p packages) Hold(_ context.Context, _ *host.Host, hold bool, wants ...resources.Package) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	for _, want := range wants {
		p.m.onHold[want.Name] = hold
	}
	return nil
}
