// Package pkg provides packages on FreeBSD. It was made from the source of pkg and from
// outputs that others have recorded, and was not run on the real system.
package pkg

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "pkg"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages)}
}

// tool runs the commands of pkg.
var tool = &pkgtool.Tool{
	Doc:         "Manages packages with pkg of FreeBSD.",
	Commands:    []string{"pkg"},
	Families:    []string{"freebsd"},
	Index:       []string{"/var/db/pkg/repos/*/db", "/var/db/pkg/repo-*.sqlite"},
	UpdateIndex: []string{"pkg", "update"},
	Shared:      []string{"--repository ", "-r "},
	Reason:      func(stdout, stderr []string) []string { return pkgtool.Tail(append(stdout, stderr...)) },
}

// packages manages packages of FreeBSD. Pkg also accepts the origin of a port as a name.
var packages = &pkgtool.Packages{
	Tool:         tool,
	Name:         Name,
	Repositories: []string{"/etc/pkg", "/usr/local/etc/pkg"},
	CheckName:    pkgtool.NoArchitecture,
	States:       installed,
	Offers:       offers,
	AsksFirst:    true,
	Compare: func(ctx context.Context, v *host.View, a, b string) (int, error) {
		return pkgtool.CompareByCommand(ctx, v, tool, "pkg", "version", "-t", a, b)
	},
	Spec:     pkgtool.SpecWith("-"),
	Command:  command,
	Simulate: simulate,
	HoldCommand: func(hold bool) []string {
		return []string{"pkg", map[bool]string{true: "lock", false: "unlock"}[hold], "-y"}
	},
	Holds: func(ctx context.Context, v *host.View, wants []resources.Package) ([]string, error) {
		return query(ctx, v, []string{"pkg", "query", "-e", "%k = 1", "%n"}, pkgtool.NamesOf(wants))
	},
	Suffix: ".pkg",
	List: func(ctx context.Context, v *host.View, prefix string) ([]string, error) {
		return pkgtool.ListLines(ctx, v, tool, prefix, "pkg", "query", "%n")
	},
}

// command returns the words of a command. They do not refresh the index.
func command(verb string, want resources.Package) []string {
	switch {
	case verb == "remove":
		return []string{"pkg", "delete", "-y"}
	case want.Source != "":
		return []string{"pkg", "add", "-f"}
	case verb == "downgrade":
		return []string{"pkg", "install", "-y", "-U", "-f"}
	}
	return []string{"pkg", "install", "-y", "-U"}
}

// query asks pkg about packages in a format, and returns the lines of the answer. For unknown
// packages there is no line, and the exit status is 1.
func query(ctx context.Context, v *host.View, argv, names []string) ([]string, error) {
	return pkgtool.Ask(ctx, v, names, func(ctx context.Context, v *host.View, names []string) ([]string, error) {
		res, err := tool.Query(ctx, v, append(argv, names...)...)
		if err == nil && res.Code != 0 && len(res.Stderr) > 0 {
			err = pkgtool.ExitError("pkg "+argv[1], res.Code, res.LastWords())
		}
		return pkgtool.Lines(res.Stdout), err
	})
}

func installed(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	lines, err := query(ctx, v, []string{"pkg", "query", `%n\t%v\t%q\t%w\t%c`}, pkgtool.NamesOf(wants))
	found := make(map[string]resources.PackageMetadata, len(lines))
	for _, line := range lines {
		words := strings.SplitN(line, "\t", 5)
		if len(words) != 5 {
			return pkgtool.StatesOf(wants, nil, fmt.Errorf("pkg query: %w", diag.Expected("a line about a package").Got("%.200q", line)))
		}
		found[words[0]] = resources.PackageMetadata{
			Name: words[0], Version: words[1], Arch: words[2], URL: words[3], Summary: words[4], Provider: Name,
		}
	}
	return pkgtool.StatesOf(wants, found, err)
}

func offers(ctx context.Context, v *host.View, wants []resources.Package, _ []resources.PackageState) ([][]string, error) {
	argv := slices.Concat([]string{"pkg", "rquery", "-U"}, tool.SharedOptions(wants[0].Options), []string{`%n\t%v`})
	lines, err := query(ctx, v, argv, pkgtool.NamesOf(wants))
	list := make([][]string, len(wants))
	for _, line := range lines {
		name, version, _ := strings.Cut(line, "\t")
		for i, want := range wants {
			if want.Name == name && !slices.Contains(list[i], version) {
				list[i] = append(list[i], version)
			}
		}
	}
	return list, err
}

// simulate asks pkg what it would do. Some versions end a dry run with status 1.
func simulate(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (pkgtool.Simulation, error) {
	argv := []string{"pkg", "delete", "-n"}
	if verb != "remove" {
		argv = []string{"pkg", "install", "-n", "-U"}
	}
	res, err := tool.Query(ctx, v, slices.Concat(argv, want.Options, specs)...)
	t := parseSummary(string(res.Stdout))
	if err == nil && res.Code != 0 && len(t.Installs)+len(t.Removes) == 0 {
		err = tool.CouldNot("pkg", verb, res)
	}
	return t, err
}

// parseSummary reads the summary of a dry run: a line that ends with a colon, followed by a line
// with a tab for each package: "NAME: VERSION" or, in older versions, "NAME-VERSION".
func parseSummary(out string) (t pkgtool.Simulation) {
	list := new([]string)
	for line := range strings.Lines(out) {
		text := strings.TrimSpace(line)
		switch {
		case text == "New packages to be INSTALLED:":
			list = &t.Installs
		case text == "Installed packages to be REMOVED:":
			list = &t.Removes
		case !strings.HasPrefix(line, "\t"):
			list = new([]string)
		default:
			name, _, ok := strings.Cut(text, ": ")
			if name, _, _ = strings.Cut(name, " "); !ok {
				name = name[:max(0, strings.LastIndexByte(name, '-'))]
			}
			*list = append(*list, name)
		}
	}
	return t
}
