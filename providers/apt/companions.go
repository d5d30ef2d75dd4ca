package apt

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// addCompanions adds to the prediction of each package the other packages of the transaction that
// it needs. If apt does not tell the dependencies, it adds nothing.
func addCompanions(ctx context.Context, v *host.View, t simulation, install []request, list []resource.Prediction) {
	if len(install) == 1 {
		list[install[0].at].Installs = t.others(install)
		return
	}
	argv := []string{"apt-cache", "depends"}
	for _, x := range t.installs {
		argv = append(argv, x.pkg)
	}
	if len(argv) > atOnce {
		return
	}
	res, err := tool.Query(ctx, v, argv...)
	if err != nil || res.Code != 0 {
		return
	}
	needs := parseDepends(string(res.Stdout))
	for _, x := range install {
		list[x.at].Installs = t.neededBy(x.String(), needs)
	}
}

// displace adds to the prediction of each package the conflicting packages that are removed for
// it. It returns those that are removed only if all packages are installed together; they are in
// the prediction of the last package.
func displace(ctx context.Context, v *host.View, t simulation, wants []resources.Package, install []request, list []resource.Prediction) []string {
	if len(install) == 1 || len(t.removes) == 0 {
		list[install[0].at].Removes = t.removes
		return t.removes
	}
	rest := t.removes
	for _, x := range install {
		alone, err := simulateInstall(ctx, v, wants, []request{x})
		if err != nil || len(alone.removes) == 0 {
			continue
		}
		p := &list[x.at]
		p.Removes = alone.removes
		p.Caveat = resources.AddPackagesText(p.Caveat, 1, nil, alone.removes)
		rest = slices.DeleteFunc(slices.Clone(rest), func(pkg string) bool { return slices.Contains(alone.removes, pkg) })
	}
	last := &list[install[len(install)-1].at]
	last.Removes = append(last.Removes, rest...)
	return rest
}

// neededBy returns the packages of the transaction that are installed because a package needs them,
// directly or through others.
func (t simulation) neededBy(pkg string, needs map[string][]string) (names []string) {
	seen := map[string]bool{pkg: true}
	for open := []string{pkg}; len(open) > 0; {
		next := needs[open[0]]
		open = open[1:]
		for _, name := range next {
			if !seen[name] && slices.ContainsFunc(t.installs, func(x install) bool { return x.pkg == name }) {
				seen[name] = true
				open, names = append(open, name), append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// parseDepends reads the dependencies of packages, with recommended ones and all alternatives:
//
//	nginx
//	  PreDepends: libc6
//	 |Depends: iproute2
//	  Recommends: <mail-transport-agent>
//	    exim4-daemon-light
func parseDepends(out string) map[string][]string {
	needs := make(map[string][]string)
	pkg, counts := "", false
	for line := range strings.Lines(out) {
		text := strings.TrimLeft(strings.TrimRight(line, "\n"), " |")
		kind, name, isKind := strings.Cut(text, ": ")
		switch {
		case text == "":
			continue
		case line[0] != ' ':
			pkg, counts = text, false
			continue
		case isKind:
			counts = slices.Contains([]string{"Depends", "PreDepends", "Recommends"}, kind)
		default:
			name = text
		}
		if counts {
			needs[pkg] = append(needs[pkg], name)
		}
	}
	return needs
}
