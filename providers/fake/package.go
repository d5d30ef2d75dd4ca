package fake

import (
	"context"

	rpmversion "github.com/knqyf263/go-rpm-version"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// newest is the version of a package that is installed without a wish for one.
const newest = "1.0"

// packages offers every package in every version.
type packages struct{ m *Machine }

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
