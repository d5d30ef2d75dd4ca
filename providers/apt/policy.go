package apt

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// An offer lists the versions of a package that apt could install.
type offer struct {
	candidate string   // the version that apt would choose, "" if none
	versions  []string // all versions that apt knows, in its order
	offered   bool     // a repository has one of them
}

// best returns the version that apt would install, "" if it has none: the wanted version, its
// candidate, or the newest one that a constraint allows.
func (o offer) best(e resources.PackageEnsure) (version string, err error) {
	switch {
	case e.IsVersion() && slices.Contains(o.versions, string(e)):
		return string(e), nil
	case e.IsVersion():
		return "", nil
	case !e.IsConstraint():
		return o.candidate, nil
	}
	for _, x := range slices.Concat([]string{o.candidate}, o.versions) {
		if x == "" {
			continue
		}
		allowed, err := allows(e, x)
		if err != nil {
			return "", err
		}
		if !allowed {
			continue
		}
		if x == o.candidate {
			return x, nil
		}
		order, err := compareVersions(x, cmp.Or(version, x))
		if err != nil {
			return "", err
		}
		if order >= 0 {
			version = x
		}
	}
	return version, nil
}

// status is dpkg's file with the installed packages.
const status = "/var/lib/dpkg/status"

// offers asks apt for packages, those without an architecture all at once. A package that apt
// does not know has no entry.
func offers(ctx context.Context, v *host.View, names []name, options []string) (map[name]offer, error) {
	found := make(map[name]offer, len(names))
	var plain []name
	for _, n := range names {
		if n.arch == "" {
			plain = append(plain, n)
			continue
		}
		// apt may leave out the architecture in its answer, so the question must be about one
		// package only.
		known, err := policy(ctx, v, options, n)
		if err != nil {
			return nil, err
		}
		for _, key := range []string{n.String(), n.pkg} {
			if o, ok := known[key]; ok {
				found[n] = o
				break
			}
		}
	}
	if len(plain) == 0 {
		return found, nil
	}
	known, err := policy(ctx, v, options, plain...)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		// A package that exists only for another architecture is answered with that.
		pkg, arch, _ := strings.Cut(key, ":")
		if _, native := known[pkg]; arch == "" || !native {
			found[name{pkg: pkg}] = known[key]
		}
	}
	return found, nil
}

func policy(ctx context.Context, v *host.View, options []string, names ...name) (map[string]offer, error) {
	found := make(map[string]offer, len(names))
	for some := range slices.Chunk(names, atOnce) {
		argv := append([]string{"apt-cache", "policy"}, tool.SharedOptions(options)...)
		for _, n := range some {
			argv = append(argv, n.String())
		}
		res, err := tool.Query(ctx, v, argv...)
		if err != nil {
			return nil, err
		}
		if res.Code != 0 {
			return nil, pkgtool.ExitError("apt-cache policy", res.Code, res.LastWords())
		}
		maps.Copy(found, parsePolicy(string(res.Stdout)))
	}
	return found, nil
}

// parsePolicy reads the output of apt-cache policy, by the names in it. There may be packages
// that were not asked for: apt takes an unknown name for a regular expression.
func parsePolicy(out string) map[string]offer {
	found := make(map[string]offer)
	pkg := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if head, ok := strings.CutSuffix(line, ":"); ok && !strings.HasPrefix(line, " ") {
			pkg = head
			found[pkg] = offer{}
			continue
		}
		o := found[pkg]
		if version, ok := strings.CutPrefix(line, "  Candidate: "); ok && version != "(none)" {
			o.candidate = version
		}
		// Versions begin in column six, their sources further right.
		if len(line) > 5 && (line[:5] == "     " || line[:5] == " *** ") && line[5] != ' ' {
			version, _, _ := strings.Cut(line[5:], " ")
			o.versions = append(o.versions, version)
		}
		if strings.HasPrefix(line, "        ") && !strings.HasSuffix(line, " "+status) {
			o.offered = true
		}
		if pkg != "" {
			found[pkg] = o
		}
	}
	return found
}

// providersOf returns the packages that provide the virtual package n.
func providersOf(ctx context.Context, v *host.View, n name) ([]string, error) {
	res, err := tool.Query(ctx, v, "apt-cache", "showpkg", n.String())
	if err != nil || res.Code != 0 {
		return nil, err
	}
	_, list, _ := strings.Cut(string(res.Stdout), "\nReverse Provides:")
	var pkgs []string
	for line := range strings.Lines(strings.TrimSpace(list)) {
		if words := strings.Fields(line); len(words) > 0 {
			pkgs = append(pkgs, words[0])
		}
	}
	slices.Sort(pkgs) // a package for several architectures comes several times
	return slices.Compact(pkgs), nil
}
