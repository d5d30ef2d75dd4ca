// Package dnf provides packages on Fedora, RHEL and their relatives. It asks rpm for installed
// packages and dnf for available ones, and dnf makes the changes.
package dnf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/rpm"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "dnf"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages)}
}

// tool runs the commands of rpm and dnf.
var tool = &pkgtool.Tool{
	Doc:      "Queries packages with rpm and dnf, and changes them with dnf.",
	Commands: []string{"dnf", "rpm"},
	Families: []string{"rhel", "fedora"},
	Index: []string{ // dnf touches the second if the repository has not changed
		"/var/cache/dnf/*/repodata/repomd.xml", "/var/cache/dnf/*/repodata/*primary.xml*",
		"/var/cache/libdnf5/*/repodata/repomd.xml", "/var/cache/libdnf5/*/repodata/*primary.xml*",
	},
	UpdateIndex: []string{"dnf", "-q", "makecache", "--refresh"},
	ReadsIndex:  true,
	Shared: []string{
		"--enablerepo ", "--disablerepo ", "--repo ", "--repoid ", "--repofrompath ", "--setopt ", "--releasever ",
		"--exclude ", "--excludepkgs ", "-x ", "--disableplugin ",
	},
	Reason: reason,
}

// packages manages rpm packages.
var packages = &pkgtool.Packages{
	Tool:         tool,
	Name:         Name,
	Repositories: []string{"/etc/yum.repos.d", "/etc/dnf"},
	CheckName:    rpm.CheckName,
	WithoutArch:  rpm.WithoutArch,
	States: func(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
		return rpm.States(ctx, v, wants, Name, records)
	},
	Offers:           offers,
	Compare:          rpm.Compare,
	Incomplete:       rpm.Incomplete,
	ShownVersion:     rpm.Shown,
	Spec:             rpm.Spec,
	Run:              change,
	Unavailable:      func(failure string) bool { return unavailable().MatchString(failure) },
	Simulate:         simulate,
	Files:            fileLists,
	SimulatesChanges: true,
	HoldCommand:      holdCommand,
	Holds:            lockedPackages,
	Suffix:           ".rpm",
	File:             rpm.File(tool),
	List: func(ctx context.Context, v *host.View, prefix string) ([]string, error) {
		return pkgtool.ListLines(ctx, v, tool, prefix, "rpm", "-qa", "--queryformat", `%{NAME}\n`)
	},
}

// offerFormat is the output format of dnf for an available package. Dnf 4 adds a line break of
// its own, dnf 5 does not.
const offerFormat = `%{name} %{epoch} %{version} %{release} %{arch}\n`

// offers asks dnf for all versions of the packages at once. Like an installation it refreshes
// expired metadata, so that both agree.
func offers(ctx context.Context, v *host.View, wants []resources.Package, haves []resources.PackageState) ([][]string, error) {
	found, err := pkgtool.Ask(ctx, v, pkgtool.NamesOf(wants), func(ctx context.Context, v *host.View, names []string) (rpm.Offers, error) {
		found := rpm.Offers{}
		for some := range slices.Chunk(names, rpm.AtOnce) {
			res, err := tool.Query(ctx, v, slices.Concat([]string{"dnf", "-q", "repoquery", "--queryformat", offerFormat}, tool.SharedOptions(optionsOf(wants[0])), some)...)
			if err == nil && res.Code != 0 {
				err = pkgtool.ExitError("dnf repoquery", res.Code, res.LastWords())
			}
			if err == nil {
				err = parseOffers(string(res.Stdout), found)
			}
			if err != nil {
				return nil, err
			}
		}
		return found, nil
	})
	return found.Versions(wants, haves), err
}

func parseOffers(out string, found rpm.Offers) error {
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 5 {
			return fmt.Errorf("dnf repoquery: %w", diag.Expected("a line about a package").Got("%.200q", line))
		}
		found.Add(words[0], rpm.Offer{EVR: rpm.EVR{Epoch: words[1], Version: words[2], Release: words[3]}, Arch: words[4]})
	}
	return nil
}

// optionsOf returns the options of questions about packages such as want. A run releases a hold
// first, so the questions ignore it.
func optionsOf(want resources.Package) []string {
	if want.Hold == nil {
		return want.Options
	}
	return append([]string{"--disableplugin=versionlock"}, want.Options...)
}
