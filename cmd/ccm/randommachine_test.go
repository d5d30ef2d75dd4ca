package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A randomMachine is a package system and a service manager whose state is in files below a directory: the contents
// of repositories, the installed packages, the unit files and the running services. So packages, commands and files
// can bring repositories and units. Like the real ones, both read the machine as it is, not as a plan expects it, and
// declare the files they depend on (providers/apt, providers/systemd).
type randomMachine struct {
	dir string
	at  func(path string) string // the path on the machine that is examined
}

// randomContents are the files of packages, by name.
var randomContents = map[string]map[string]string{
	"alpha":        {"units/alpha": "unit", "share/alpha": "1\n"},
	"beta":         {"units/beta": "unit"},
	"gamma":        {"share/gamma": "0\n"},
	"beta-release": {"repo/gamma": "2.0"},
}

// needed are the dependencies of packages, by name.
var needed = map[string]string{"alpha": "gamma"}

func (m randomMachine) path(name string) string { return filepath.Join(m.dir, name) }

// read returns the text of a file of the machine, "" if it is missing.
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

// providers returns the providers for packages and services of the machine.
func (m randomMachine) providers() []resource.Binding {
	return []resource.Binding{
		resources.PackageType.Provide("random", resource.Always[resources.Package](1), randomPackages{m}),
		resources.ServiceType.Provide("random", resource.Always[resources.Service](1), randomServices{m}),
	}
}

type randomPackages struct{ randomMachine }

// Bulk implements resource.BulkProvider.
func (p randomPackages) Bulk() resource.Bulk[resources.Package, resources.PackageState] {
	b := resources.PackagesInBulk(p)
	b.Predict = p.predictAll
	return b
}

// Status implements resources.PackageProvider.
func (p randomPackages) Status(_ context.Context, v *host.View, want resources.Package) (s resources.PackageState, err error) {
	v.Overlay().RecordLook(overlay.CommandLook, "query "+want.Name, true)
	s.Metadata = resources.PackageMetadata{Name: want.Name, Version: p.read("installed/" + want.Name)}
	s.Held = p.read("held/"+want.Name) != ""
	desired := string(want.Ensure)
	if want.Ensure.IsConstraint() && s.Installed() {
		allowed, err := p.allows(want, s.Metadata.Version)
		if err != nil {
			return s, err
		}
		s.Violates = !allowed
	}
	if s.Installed() && (want.Ensure == resources.PackageLatest || s.Violates) {
		v.Overlay().RecordLook(overlay.RepositoryLook, want.Name, false) // there may be a newer version
		v.Overlay().DependsOn(p.at(p.path("repo")))
		s.Candidate = p.read("repo/" + want.Name)
		if allowed, err := p.allows(want, s.Candidate); err != nil || !allowed {
			s.Candidate = ""
		}
	}
	if !want.Ensure.IsVersion() {
		desired = s.Candidate
	}
	if s.Installed() && desired != "" {
		s.Order = strings.Compare(s.Metadata.Version, desired)
	}
	return s, nil
}

// allows reports whether a version of a package is as wanted.
func (randomPackages) allows(want resources.Package, version string) (bool, error) {
	if !want.Ensure.IsConstraint() {
		return true, nil
	}
	return want.Ensure.Allows(func(other string) (int, error) { return strings.Compare(version, other), nil })
}

// offer returns the version to install, and an error if the repositories do not have it.
func (p randomPackages) offer(want resources.Package) (string, error) {
	version := p.read("repo/" + want.Name)
	allowed, err := p.allows(want, version)
	if version == "" || want.Ensure.IsVersion() && version != string(want.Ensure) || !allowed || err != nil {
		return "", fmt.Errorf("there is no package %s %s", want.Name, want.Ensure)
	}
	if need := needed[want.Name]; need != "" && p.read("installed/"+need) == "" {
		if _, err := p.offer(resources.Package{Name: need, Ensure: resources.PackagePresent}); err != nil {
			return "", fmt.Errorf("%s needs %s: %w", want.Name, need, err)
		}
	}
	return version, nil
}

func (p randomPackages) predictAll(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prediction {
	list := make([]resource.Prediction, len(wants))
	files := resource.NewFileLists(p.files)
	for i, want := range wants {
		if have, err := p.Status(ctx, v, want); err == nil && want.AsksVersion(have) {
			version, err := p.offer(want)
			list[i] = want.Prediction(version, []string{p.at(p.path("repo"))}, err)
			if need := needed[want.Name]; need != "" {
				list[i].Installs = []string{need}
			}
			list[i].Files = files
		} else if err == nil && have.Installed() && want.Ensure == resources.PackageAbsent {
			list[i].Removes = p.dependents(want.Name)
			list[i].Lost = slices.ContainsFunc(append([]string{want.Name}, list[i].Removes...), func(name string) bool { return p.read("repo/"+name) == "" })
		}
	}
	return list
}

// files lists the files of packages, if the machine has lists: those of randomContents, and of the lists themselves, which
// name a package and a path in a line.
func (p randomPackages) files(l *resource.FileLists) bool {
	if _, err := os.Stat(p.path("lists")); err != nil {
		return false
	}
	for pkg, contents := range randomContents {
		l.AddList(pkg)
		for name := range contents {
			l.Add(pkg, p.at(p.path(name)), true)
		}
	}
	for line := range strings.Lines(p.read("lists")) {
		pkg, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		l.Add(pkg, p.at(p.path(name)), true)
	}
	return true
}

// Install implements resources.PackageProvider.
func (p randomPackages) Install(_ context.Context, _ *host.Host, wants ...resources.Package) error {
	found := make([]string, len(wants))
	for i, want := range wants {
		var err error
		if found[i], err = p.offer(want); err != nil {
			return err
		}
	}
	for i, want := range wants {
		if err := p.install(want.Name, found[i]); err != nil {
			return err
		}
	}
	return nil
}

// install installs a version of a package and its dependencies.
func (p randomPackages) install(pkg, version string) error {
	if need := needed[pkg]; need != "" && p.read("installed/"+need) == "" {
		if err := p.install(need, p.read("repo/"+need)); err != nil {
			return err
		}
	}
	for name, text := range randomContents[pkg] {
		if p.read(name) != "" {
			continue // no repository removes a version
		}
		if err := p.write(name, text); err != nil {
			return err
		}
	}
	return p.write("installed/"+pkg, version)
}

// Upgrade implements resources.PackageProvider.
func (p randomPackages) Upgrade(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return p.Install(ctx, h, wants...)
}

// Downgrade implements resources.PackageProvider.
func (p randomPackages) Downgrade(ctx context.Context, h *host.Host, wants ...resources.Package) error {
	return p.Install(ctx, h, wants...)
}

// Uninstall implements resources.PackageProvider.
func (p randomPackages) Uninstall(ctx context.Context, _ *host.Host, wants ...resources.Package) error {
	var gone []string
	for _, want := range wants {
		gone = append(gone, append(p.dependents(want.Name), want.Name)...)
	}
	if err := resource.DesiredFrom(ctx).CheckRemovals(gone, pkgtool.NamesOf(wants)); err != nil {
		return err
	}
	slices.Sort(gone)
	for _, pkg := range slices.Compact(gone) {
		for name := range randomContents[pkg] {
			if err := os.RemoveAll(p.path(name)); err != nil {
				return err
			}
		}
		if err := os.Remove(p.path("installed/" + pkg)); err != nil {
			return err
		}
	}
	return nil
}

// Hold implements resources.PackageProvider.
func (p randomPackages) MarkManual(context.Context, *host.Host, ...resources.Package) error {
	return nil
}

func (p randomPackages) Hold(_ context.Context, _ *host.Host, hold bool, wants ...resources.Package) error {
	for _, want := range wants {
		var err error
		if hold {
			err = p.write("held/"+want.Name, "1")
		} else {
			err = os.RemoveAll(p.path("held/" + want.Name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dependents returns the installed packages that need pkg.
func (p randomPackages) dependents(pkg string) (list []string) {
	for name, need := range needed {
		if need == pkg && p.read("installed/"+name) != "" {
			list = append(list, name)
		}
	}
	return list
}

type randomServices struct{ randomMachine }

// Status implements resources.ServiceProvider.
func (s randomServices) Status(_ context.Context, v *host.View, want resources.Service) (have resources.ServiceState, err error) {
	v.Overlay().RecordLook(overlay.CommandLook, "show "+want.Name, true)
	unit := s.at(s.path("units/" + want.Name))
	if _, pending := v.Overlay().Assumed(unit); pending {
		return have, &resource.UnknownError{Reason: "the unit file " + unit + " is pending"}
	}
	info, err := v.Lstat(unit)
	if err != nil || info.Kind == safepath.Missing {
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

// Reload implements resources.ServiceProvider.
func (s randomServices) Reload(context.Context, *host.Host, resources.Service) error { return nil }

// Enable implements resources.ServiceProvider.
func (s randomServices) Enable(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.write("enabled/"+want.Name, "1")
}

// Disable implements resources.ServiceProvider.
func (s randomServices) Disable(_ context.Context, _ *host.Host, want resources.Service) error {
	return os.Remove(s.path("enabled/" + want.Name))
}

// Mask implements resources.ServiceProvider. No site here masks a service.
func (randomServices) Mask(context.Context, *host.Host, resources.Service) error {
	return errors.ErrUnsupported
}

// Unmask implements resources.ServiceProvider.
func (randomServices) Unmask(context.Context, *host.Host, resources.Service) error {
	return errors.ErrUnsupported
}
