package apt

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A request is a package to install.
type request struct {
	name
	at   int
	spec string // in apt's syntax
}

// A simulation has the packages that apt would install and remove.
type simulation struct {
	installs []install
	removes  []string
}

// An install is a package that would be unpacked, with its version and the labels of the repositories that have it.
type install struct {
	pkg, version, arch string
	labels             []string
}

// version returns the version in which a package would be installed.
func (t simulation) version(n name) (string, bool) {
	for _, x := range t.installs {
		if x.pkg == n.String() || x.pkg == n.pkg && (x.arch == n.arch || x.arch == "all") {
			return x.version, true
		}
	}
	return "", false
}

// others returns the packages that would be installed besides those in the list.
func (t simulation) others(list []request) (names []string) {
	for _, x := range t.installs {
		if !slices.ContainsFunc(list, func(w request) bool { return w.pkg == x.pkg || w.String() == x.pkg }) {
			names = append(names, x.pkg)
		}
	}
	return names
}

// predictTogether simulates the installation of all packages at once. If apt would install each
// of them under its own name, it fills the predictions and returns true. Otherwise they have to
// be asked for one by one.
func predictTogether(ctx context.Context, v *host.View, wants []resources.Package, install []request, list []resource.Prediction) bool {
	t, err := simulateInstall(ctx, v, wants, install)
	if err != nil {
		return false
	}
	versions := make([]string, len(install))
	for i, x := range install {
		version, ok := t.version(x.name)
		if desired := wants[x.at].Ensure; !ok || desired.IsVersion() && version != string(desired) {
			return false
		}
		versions[i] = version
	}
	files := fileLists(ctx, v, t)
	for i, x := range install {
		list[x.at] = wants[x.at].Prediction(versions[i], repositories, nil)
		list[x.at].Files = files
	}
	addCompanions(ctx, v, t, install, list)
	rest := t.others(install)
	for _, x := range install {
		p := &list[x.at]
		with := func(pkg string) bool { return slices.Contains(p.Installs, pkg) }
		without := slices.DeleteFunc(slices.Clone(rest), with)
		p.Caveat = resources.AddPackagesText(p.Caveat, 1, slices.DeleteFunc(rest, func(pkg string) bool { return !with(pkg) }), nil)
		rest = without
	}
	removes := displace(ctx, v, t, wants, install, list)
	last := &list[install[len(install)-1].at]
	last.Caveat = resources.AddPackagesText(last.Caveat, len(install), rest, removes)
	return true
}

// simulateInstall simulates the installation of packages.
func simulateInstall(ctx context.Context, v *host.View, wants []resources.Package, install []request) (simulation, error) {
	specs := make([]string, len(install))
	for i, x := range install {
		specs[i] = x.spec
	}
	return simulate(ctx, v, "install", wants[0], specs)
}

// simulate simulates the installation or removal of packages with the options of want.
func simulate(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (simulation, error) {
	argv := []string{"apt-get", verb, "--simulate", "-o", "Dir::Log::Planner=/dev/null", "-y", "-q"}
	if verb == "install" {
		argv = append(argv, "--allow-downgrades")
	}
	if want.Hold != nil { // a run releases the hold first
		argv = append(argv, "--allow-change-held-packages")
	}
	res, err := tool.Query(ctx, v, slices.Concat(argv, want.Options, specs)...)
	if err != nil {
		return simulation{}, err
	}
	if res.Code != 0 {
		return simulation{},
			tool.CouldNot("apt", verb, res)
	}
	return parseSimulation(string(res.Stdout)), nil
}

// parseSimulation reads lines such as
//
//	Inst nginx [1.20-1] (1.22.1-9 Debian:12/oldstable [amd64])
//	Remv apache2 [2.4.57-2]
func parseSimulation(out string) (t simulation) {
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		switch {
		case len(words) < 2:
		case words[0] == "Remv":
			t.removes = append(t.removes, words[1])
		case words[0] == "Inst":
			_, to, ok := strings.Cut(line, " (")
			to, _, closed := strings.Cut(to, ")")
			if into := strings.Fields(to); ok && closed && len(into) > 1 {
				t.installs = append(t.installs, install{words[1], into[0], strings.Trim(into[len(into)-1], "[]"), labelsOf(into[1 : len(into)-1])})
			}
		}
	}
	return t
}

// labelsOf returns the labels of repositories: Debian for "Debian:12/oldstable, Debian:12.1/stable-updates".
func labelsOf(words []string) (labels []string) {
	for origin := range strings.SplitSeq(strings.Join(words, " "), ", ") {
		label, _, _ := strings.Cut(origin, ":")
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return labels
}
