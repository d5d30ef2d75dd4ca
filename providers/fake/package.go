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

// newest is the version of a package that is installed without a wish for one.
const newest = "1.0"

// packages offers every package in every version.
type packages struct{ m *Machine }

// packageModel is the model of packages.
func packageModel(m *Machine, real resource.Binding, order int) resource.Binding {
	return resources.PackageType.Provide(real.Name, ofFamily(real.Name, order), packages{m})
}

// managers are the package systems of families of systems.
var managers = map[string]string{"debian": "apt", "rhel": "dnf", "fedora": "dnf"}

// ofFamily prefers the package system that the imagined machine would have, and else goes by
// the order of registration.
func ofFamily(name string, order int) resource.Suits[resources.Package] {
	return func(f *facts.Facts, _ resources.Package) (int, error) {
		if family, err := f.Get("os.family"); err == nil && family != nil && managers[fmt.Sprint(family)] == name {
			return -1, nil
		}
		return order, nil
	}
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
	s.Candidate = version
	if want.Ensure.IsVersion() {
		s.Order = rpmversion.NewVersion(version).Compare(rpmversion.NewVersion(string(want.Ensure)))
	}
	return s, nil
}

func (p packages) set(pkg, version string) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if version == string(resources.PackagePresent) || version == string(resources.PackageLatest) {
		version = newest
	}
	p.m.Packages[pkg] = version
	return nil
}

// Install implements resources.PackageProvider.
func (p packages) Install(_ context.Context, _ *host.Host, pkg, version string) error {
	return p.set(pkg, version)
}

// Upgrade implements resources.PackageProvider.
func (p packages) Upgrade(_ context.Context, _ *host.Host, pkg, version string) error {
	return p.set(pkg, version)
}

// Downgrade implements resources.PackageProvider.
func (p packages) Downgrade(_ context.Context, _ *host.Host, pkg, version string) error {
	return p.set(pkg, version)
}

// Uninstall implements resources.PackageProvider.
func (p packages) Uninstall(_ context.Context, _ *host.Host, pkg string) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	delete(p.m.Packages, pkg)
	return nil
}
