// Package zypper provides packages on openSUSE, SLES and their relatives. It asks rpm for
// installed packages and zypper for available ones, and zypper makes the changes.
package zypper

import (
	"context"
	"encoding/xml"
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
const Name = "zypper"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages)}
}

// Exit statuses of zypper that are no failures (zypper(8)).
const (
	rebootNeeded  = 102
	restartNeeded = 103
	nothingFound  = 104
)

// tool runs the commands of rpm and zypper. It waits as long for another zypper as apt does.
var tool = &pkgtool.Tool{
	Doc:             "Queries packages with rpm and zypper, and changes them with zypper.",
	Commands:        []string{"zypper", "rpm"},
	Families:        []string{"suse"},
	Env:             []string{"ZYPP_LOCK_TIMEOUT=600"},
	SuccessStatuses: []int{rebootNeeded, restartNeeded},
	Index:           []string{"/var/cache/zypp/raw/*/repodata/repomd.xml"},
	UpdateIndex:     []string{"zypper", "--non-interactive", "refresh"},
	Shared:          []string{"--repo ", "-r "},
	Reason: func(stdout, stderr []string) []string {
		return append(problems(stdout), pkgtool.Tail(stderr)...)
	},
}

// packages manages rpm packages.
var packages = &pkgtool.Packages{
	Tool:         tool,
	Name:         Name,
	Repositories: []string{"/etc/zypp", "/var/cache/zypp"},
	CheckName:    rpm.CheckName,
	WithoutArch:  rpm.WithoutArch,
	States: func(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
		return rpm.States(ctx, v, wants, Name, func(ctx context.Context, v *host.View, names []string) (map[string][]rpm.Record, error) {
			return rpm.Records(ctx, v, tool, names)
		})
	},
	Offers:           offers,
	AsksFirst:        true, // for the epoch, which zypper needs in a version
	Compare:          rpm.Compare,
	Incomplete:       rpm.Incomplete,
	ShownVersion:     rpm.Shown,
	Spec:             pkgtool.SpecWith("="),
	Command:          command,
	Simulate:         simulate,
	SimulatesChanges: true,
	HoldCommand: func(hold bool) []string {
		return []string{"zypper", "--non-interactive", map[bool]string{true: "addlock", false: "removelock"}[hold]}
	},
	Holds:  locked,
	Suffix: ".rpm",
	File:   rpm.File(tool),
	List: func(ctx context.Context, v *host.View, prefix string) ([]string, error) {
		return pkgtool.ListLines(ctx, v, tool, prefix, "rpm", "-qa", "--queryformat", `%{NAME}\n`)
	},
}

// command returns the words of a command. A package file is trusted like any local file, signed
// or not.
func command(verb string, want resources.Package) []string {
	switch {
	case verb == "remove":
		return []string{"zypper", "--non-interactive", "remove"}
	case want.Source != "":
		return append([]string{"zypper", "--non-interactive", "--no-refresh", "install", "--allow-unsigned-rpm"}, older(want)...)
	}
	return append([]string{"zypper", "--non-interactive", "--no-refresh", "install", "--name"}, older(want)...)
}

// older returns the option that lets zypper install an older version.
func older(want resources.Package) []string {
	if want.MayDowngrade() && (want.Ensure.IsVersion() || want.Ensure.IsConstraint()) {
		return []string{"--oldpackage"}
	}
	return nil
}

// problems returns the lines about conflicts of a transaction.
func problems(lines []string) []string {
	return slices.DeleteFunc(lines, func(s string) bool {
		return !strings.HasPrefix(s, "Problem: ") && !strings.HasPrefix(s, "nothing provides ") && !strings.Contains(s, "lower version than the installed")
	})
}

// A stream is the part of zypper's --xmlout output that is used.
type stream struct {
	Messages  []string   `xml:"message"`
	Problems  []string   `xml:"prompt>description"`
	Solvables []solvable `xml:"search-result>solvable-list>solvable"`
	Installs  []solvable `xml:"install-summary>to-install>solvable"`
	Removes   []solvable `xml:"install-summary>to-remove>solvable"`
	Locks     []struct {
		Name string `xml:"name"`
	} `xml:"locks>lock"`
}

// A solvable is a package in a repository or on the machine.
type solvable struct {
	Name       string `xml:"name,attr"`
	Edition    string `xml:"edition,attr"`
	Arch       string `xml:"arch,attr"`
	Repository string `xml:"repository,attr"`
}

// query asks zypper without refreshing repositories: a plan changes nothing, and a run refreshes
// them when that is due.
func query(ctx context.Context, v *host.View, words ...string) (s stream, err error) {
	argv := append([]string{"zypper", "--non-interactive", "--no-refresh", "--xmlout"}, words...)
	res, err := tool.Query(ctx, v, argv...)
	if err != nil {
		return s, err
	}
	if err := xml.Unmarshal(res.Stdout, &s); err != nil {
		return s, fmt.Errorf("zypper %s: %w", words[0], diag.Expected("XML: %w%s", err, res.LastWords()))
	}
	if res.Code == 0 || res.Code == nothingFound && len(s.Solvables) == 0 && words[0] == "search" {
		return s, nil
	}
	reason := problems(pkgtool.Lines([]byte(strings.Join(s.Problems, "\n"))))
	if len(reason) == 0 {
		reason = pkgtool.Tail(s.Messages)
	}
	return s, pkgtool.ExitError(fmt.Sprintf("zypper could not %s it", words[0]), res.Code, ": "+strings.Join(reason, "\n"))
}

// installedOnly is zypper's repository for installed packages that no repository has.
const installedOnly = "(System Packages)"

// offers asks zypper for all versions of packages at once.
func offers(ctx context.Context, v *host.View, wants []resources.Package, haves []resources.PackageState) ([][]string, error) {
	var names []string
	for _, want := range wants {
		names = append(names, rpm.WithoutArch(want.Name))
	}
	found, err := pkgtool.Ask(ctx, v, names, func(ctx context.Context, v *host.View, names []string) (rpm.Offers, error) {
		found := rpm.Offers{}
		for some := range slices.Chunk(names, rpm.AtOnce) {
			s, err := query(ctx, v, slices.Concat([]string{"search", "--type", "package", "--match-exact", "--details"}, tool.SharedOptions(wants[0].Options), some)...)
			if err != nil {
				return nil, err
			}
			for _, x := range s.Solvables {
				if x.Repository == installedOnly {
					continue
				}
				e, err := rpm.ParseEVR(x.Edition)
				if err != nil {
					return nil, fmt.Errorf("zypper search: %w", err)
				}
				if e.Epoch == "" {
					e.Epoch = "0"
				}
				found.Add(x.Name, rpm.Offer{EVR: e, Arch: x.Arch})
			}
		}
		return found, nil
	})
	return found.Versions(wants, haves), err
}

// simulate asks zypper what it would do.
func simulate(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (t pkgtool.Simulation, err error) {
	words := []string{"remove", "--dry-run"}
	if verb != "remove" {
		words = append([]string{"install", "--dry-run", "--name"}, older(want)...)
	}
	s, err := query(ctx, v, slices.Concat(words, want.Options, specs)...)
	for _, x := range s.Installs {
		t.Installs = append(t.Installs, x.Name)
	}
	for _, x := range s.Removes {
		t.Removes = append(t.Removes, x.Name)
	}
	return t, err
}

// locked returns the names of the packages that are locked. Zypper is asked only if there are
// locks, or a package manages its hold.
func locked(ctx context.Context, v *host.View, wants []resources.Package) (names []string, err error) {
	there, err := v.Recording(nil).Exists("/etc/zypp/locks") // no resource makes it, so the look is not recorded
	if err != nil || !there && !pkgtool.AnyHold(wants) {
		return nil, err
	}
	s, err := query(ctx, v, "locks")
	for _, lock := range s.Locks {
		names = append(names, lock.Name)
	}
	return names, err
}
