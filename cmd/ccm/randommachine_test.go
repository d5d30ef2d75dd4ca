package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A randomMachine is a package system and a service manager whose state is files
// below a directory: what repositories have, what is installed, the unit files and what
// runs. So packages, commands and files can bring repositories and units. Like the real
// ones, both look at the machine as it is, and never at what a plan assumes; what
// hangs on files they say (providers/apt, providers/systemd).
type randomMachine struct{ dir string }

// randomContents is what packages bring, by their names.
var randomContents = map[string]map[string]string{
	"alpha":        {"units/alpha": "unit", "share/alpha": "1\n"},
	"beta":         {"units/beta": "unit"},
	"gamma":        {"share/gamma": "0\n"},
	"beta-release": {"repo/gamma": "2.0"},
}

// needed is what packages need, by their names.
var needed = map[string]string{"alpha": "gamma"}

func (m randomMachine) path(name string) string { return filepath.Join(m.dir, name) }

// read returns the text of a file of the machine, "" if it is not there.
func (m randomMachine) read(name string) string {
	text, _ := os.ReadFile(m.path(name))
	return strings.TrimSpace(string(text))
}

func (m randomMachine) write(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(m.path(name), []byte(text), 0o644)
}

// providers returns what manages the packages and services of the machine.
func (m randomMachine) providers() []resource.Binding {
	return []resource.Binding{
		resources.PackageType.Provide("random", resource.Always[resources.Package](1), randomPackages{m}),
		resources.ServiceType.Provide("random", resource.Always[resources.Service](1), randomServices{m}),
	}
}

type randomPackages struct{ randomMachine }

var _ resource.BatchForecaster[resources.Package] = randomPackages{}

// Status implements resources.PackageProvider.
func (p randomPackages) Status(_ context.Context, v *host.View, want resources.Package) (s resources.PackageState, err error) {
	v.Looked(host.CommandLook, "query "+want.Name, true)
	s.Metadata = resources.PackageMetadata{Name: want.Name, Version: p.read("installed/" + want.Name)}
	if s.Installed() && want.Ensure.IsVersion() {
		s.Order = strings.Compare(s.Metadata.Version, string(want.Ensure))
	}
	return s, nil
}

// offer returns an error if the repositories do not have a version.
func (p randomPackages) offer(want resources.Package) (string, error) {
	version := p.read("repo/" + want.Name)
	if version == "" || want.Ensure.IsVersion() && version != string(want.Ensure) {
		return "", fmt.Errorf("there is no package %s %s", want.Name, want.Ensure)
	}
	if need := needed[want.Name]; need != "" && p.read("installed/"+need) == "" {
		if _, err := p.offer(resources.Package{Name: need, Ensure: resources.PackagePresent}); err != nil {
			return "", fmt.Errorf("%s needs %s: %w", want.Name, need, err)
		}
	}
	return version, nil
}

// ForeseeAll implements resource.BatchForecaster.
func (p randomPackages) ForeseeAll(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prospect {
	list := make([]resource.Prospect, len(wants))
	for i, want := range wants {
		if have, err := p.Status(ctx, v, want); err == nil && want.AsksVersion(have) {
			version, err := p.offer(want)
			list[i] = want.Prospect(version, []string{p.path("repo")}, err)
			if need := needed[want.Name]; need != "" {
				list[i].Installs = []string{need}
			}
		}
	}
	return list
}

// Install implements resources.PackageProvider.
func (p randomPackages) Install(ctx context.Context, h *host.Host, pkg, version string) error {
	found, err := p.offer(resources.Package{Name: pkg, Ensure: resources.PackageEnsure(version)})
	if err != nil {
		return err
	}
	if need := needed[pkg]; need != "" && p.read("installed/"+need) == "" {
		if err := p.Install(ctx, h, need, string(resources.PackagePresent)); err != nil {
			return err
		}
	}
	for name, text := range randomContents[pkg] {
		if p.read(name) != "" {
			continue // no repository takes a version away
		}
		if err := p.write(name, text); err != nil {
			return err
		}
	}
	return p.write("installed/"+pkg, found)
}

// Upgrade implements resources.PackageProvider.
func (p randomPackages) Upgrade(ctx context.Context, h *host.Host, pkg, version string) error {
	return p.Install(ctx, h, pkg, version)
}

// Downgrade implements resources.PackageProvider.
func (p randomPackages) Downgrade(ctx context.Context, h *host.Host, pkg, version string) error {
	return p.Install(ctx, h, pkg, version)
}

// Uninstall implements resources.PackageProvider.
func (p randomPackages) Uninstall(_ context.Context, _ *host.Host, pkg string) error {
	for name := range randomContents[pkg] {
		if err := os.RemoveAll(p.path(name)); err != nil {
			return err
		}
	}
	return os.Remove(p.path("installed/" + pkg))
}

// VersionCmp implements resources.PackageProvider.
func (randomPackages) VersionCmp(a, b string) (int, error) { return strings.Compare(a, b), nil }

type randomServices struct{ randomMachine }

// Status implements resources.ServiceProvider.
func (s randomServices) Status(_ context.Context, v *host.View, want resources.Service) (have resources.ServiceState, err error) {
	v.Looked(host.CommandLook, "show "+want.Name, true)
	unit := s.path("units/" + want.Name)
	if _, pending := v.Assumed(unit); pending {
		return have, &resource.UnknownError{Because: "the unit file " + unit + " is pending"}
	}
	info, err := v.Lstat(unit)
	if err != nil || info.Kind == host.Missing {
		have.Missing = true
		return have, err
	}
	have.Running, have.Enabled = s.read("running/"+want.Name) != "", s.read("enabled/"+want.Name) != ""
	return have, nil
}

// Start implements resources.ServiceProvider.
func (s randomServices) Start(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.write("running/"+want.Name, "1")
}

// Stop implements resources.ServiceProvider.
func (s randomServices) Stop(_ context.Context, _ *host.Host, want resources.Service) error {
	return os.Remove(s.path("running/" + want.Name))
}

// Restart implements resources.ServiceProvider.
func (s randomServices) Restart(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.Start(ctx, h, want)
}

// Enable implements resources.ServiceProvider.
func (s randomServices) Enable(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.write("enabled/"+want.Name, "1")
}

// Disable implements resources.ServiceProvider.
func (s randomServices) Disable(_ context.Context, _ *host.Host, want resources.Service) error {
	return os.Remove(s.path("enabled/" + want.Name))
}
