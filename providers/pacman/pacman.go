// Package pacman provides packages on Arch Linux and its relatives.
package pacman

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "pacman"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages)}
}

// tool runs the commands of pacman.
var tool = &pkgtool.Tool{
	Doc:         "Manages packages with pacman, and compares versions with vercmp.",
	Commands:    []string{"pacman", "vercmp"},
	Helpers:     []string{"touch"},
	Families:    []string{"arch"},
	Index:       []string{"/var/lib/pacman/sync/*.db"}, // these have the times of the server's
	IndexDir:    "/var/lib/pacman/sync",
	UpdateIndex: []string{"pacman", "-Sy", "--noconfirm"},
	Reason:      reason,
	IsFailure:   func(_, stderr []string) bool { return slices.ContainsFunc(stderr, isScriptFailure) },
}

// isScriptFailure reports whether a line says that a script or hook of a package failed. The
// package is installed or removed all the same, and pacman exits 0.
func isScriptFailure(line string) bool {
	return line == "error: command failed to execute correctly" || strings.HasPrefix(line, "error: command terminated by signal ")
}

// isChange reports whether a line announces the change of a package.
func isChange(line string) bool {
	return strings.HasSuffix(line, "...") && slices.ContainsFunc([]string{"installing ", "upgrading ", "downgrading ", "reinstalling ", "removing "},
		func(verb string) bool { return strings.HasPrefix(line, verb) })
}

// scriptLines returns the output of scripts, each after the step that ran it: pacman passes both
// their outputs to its standard output.
func scriptLines(stdout []string) (list []string) {
	changes, step := false, "" // of packages; other steps come before them
	for _, line := range stdout {
		switch {
		case isChange(line), changes && strings.HasPrefix(line, ":: "), changes && strings.HasPrefix(line, "("):
			changes, step = true, line
		case step != "":
			list = append(list, step, line)
			step = ""
		case changes:
			list = append(list, line)
		}
	}
	return pkgtool.Tail(list)
}

// reason returns the lines of a failure: pacman writes conflicts of a transaction to standard
// output.
func reason(stdout, stderr []string) []string {
	if slices.ContainsFunc(stderr, isScriptFailure) {
		return append(pkgtool.Tail(stderr), scriptLines(stdout)...)
	}
	return append(pkgtool.Tail(stderr), slices.DeleteFunc(stdout, func(s string) bool {
		return !strings.Contains(s, " required by ") && !strings.Contains(s, " in conflict") && !strings.HasSuffix(s, " exists in filesystem")
	})...)
}

// packages manages packages of pacman. A name may also be that of a group or of something that
// packages provide, so repositories are asked before an installation.
var packages = &pkgtool.Packages{
	Tool:         tool,
	Name:         Name,
	Repositories: []string{"/etc/pacman.conf", "/etc/pacman.d", "/var/lib/pacman/sync"},
	CheckName:    pkgtool.NoArchitecture,
	States:       installed,
	Offers:       offers,
	AsksFirst:    true,
	Compare:      compare,
	Spec:         pkgtool.SpecWith("="),
	Command: func(verb string, want resources.Package) []string {
		return []string{"pacman", flag(verb, want), "--noconfirm"}
	},
	Simulate:         simulate,
	SimulatesChanges: true,
	NoHold:           "add it to IgnorePkg in /etc/pacman.conf",
	Holds:            ignored,
	Suffix:           ".pkg.tar.zst",
	File: func(ctx context.Context, v *host.View, path string) (pkgtool.File, error) {
		return tool.AskFile(ctx, v, "pacman", "-Qp", path)
	},
	List: func(ctx context.Context, v *host.View, prefix string) ([]string, error) {
		return pkgtool.ListLines(ctx, v, tool, prefix, "pacman", "-Qq")
	},
}

// flag returns the operation of pacman for a verb.
func flag(verb string, want resources.Package) string {
	switch {
	case verb != "remove" && want.Source != "":
		return "-U"
	case verb != "remove":
		return "-S"
	case want.Ensure == resources.PackagePurged:
		return "-Rn" // without .pacsave files of edited configuration
	}
	return "-R"
}

// compare runs vercmp, which does not compare a release that one of the versions leaves out.
func compare(ctx context.Context, v *host.View, a, b string) (int, error) {
	if a == b {
		return 0, nil
	}
	res, err := tool.Query(ctx, v, "vercmp", a, b)
	if err != nil {
		return 0, err
	}
	order, err := strconv.Atoi(strings.TrimSpace(string(res.Stdout)))
	if err != nil || res.Code != 0 {
		return 0, fmt.Errorf("vercmp %s %s: %w: %w%s", a, b, diag.ExitStatus(res.Code), diag.Expected("a number").Got("%.200q", res.Stdout), res.LastWords())
	}
	return order, nil
}

// An entry is pacman's description of a package: values by key, such as "Version".
type entry map[string]string

// ask asks pacman to describe packages. Unknown ones are left out.
func ask(ctx context.Context, v *host.View, flag string, names []string) ([]entry, error) {
	res, err := tool.Query(ctx, v, append([]string{"pacman", flag}, names...)...)
	if err != nil {
		return nil, err
	}
	for _, line := range pkgtool.Lines(res.Stderr) {
		if strings.HasPrefix(line, "error: ") && !strings.HasSuffix(line, "' was not found") {
			return nil, pkgtool.ExitError("pacman "+flag, res.Code, tool.LastWords(res))
		}
	}
	return parse(string(res.Stdout)), nil
}

// parse reads descriptions of packages: lines "Key : value", continued by lines that begin with
// spaces, and an empty line after each package.
func parse(out string) (list []entry) {
	var last entry
	for line := range strings.Lines(out) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\n"), " : ")
		switch {
		case strings.TrimSpace(line) == "":
			last = nil
		case ok && !strings.HasPrefix(line, " "):
			if last == nil {
				last = entry{}
				list = append(list, last)
			}
			if value = strings.TrimSpace(value); value != "None" {
				last[strings.TrimSpace(key)] = value
			}
		}
	}
	return list
}

// installed asks pacman for all packages at once. A package that only provides the name does not
// count.
func installed(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	list, err := pkgtool.Ask(ctx, v, pkgtool.NamesOf(wants), func(ctx context.Context, v *host.View, names []string) ([]entry, error) {
		return ask(ctx, v, "-Qi", names)
	})
	found := make(map[string]resources.PackageMetadata, len(list))
	for _, e := range list {
		found[e["Name"]] = resources.PackageMetadata{
			Name: e["Name"], Version: e["Version"], Arch: e["Architecture"], License: e["Licenses"],
			URL: e["URL"], Summary: e["Description"], Provider: Name,
		}
	}
	return pkgtool.StatesOf(wants, found, err)
}

// offers asks pacman for the versions in its databases. Without a version, pacman takes that of
// the first repository with the package.
func offers(ctx context.Context, v *host.View, wants []resources.Package, _ []resources.PackageState) ([][]string, error) {
	list, err := pkgtool.Ask(ctx, v, pkgtool.NamesOf(wants), func(ctx context.Context, v *host.View, names []string) ([]entry, error) {
		return ask(ctx, v, "-Si", names)
	})
	known := make(map[string][]string, len(list))
	for _, e := range list {
		known[e["Name"]] = append(known[e["Name"]], e["Version"])
	}
	versions := make([][]string, len(wants))
	for i, want := range wants {
		versions[i] = known[want.Name]
		if len(versions[i]) > 0 && !want.Ensure.IsVersion() && !want.Ensure.IsConstraint() {
			versions[i] = versions[i][:1]
		}
	}
	return versions, err
}

// simulate asks pacman what it would install or remove.
func simulate(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (t pkgtool.Simulation, err error) {
	argv := append([]string{"pacman", flag(verb, resources.Package{}), "--print", "--print-format", "%n"}, want.Options...)
	res, err := tool.Query(ctx, v, append(argv, specs...)...)
	if err == nil && res.Code != 0 {
		err = tool.CouldNot("pacman", verb, res)
	}
	if names := pkgtool.Lines(res.Stdout); verb == "remove" {
		t.Removes = names
	} else {
		t.Installs = names
	}
	return t, err
}

// ignored returns the names of the packages that pacman's configuration ignores.
func ignored(ctx context.Context, v *host.View, _ []resources.Package) ([]string, error) {
	text, err := v.Recording(nil).ReadUpTo("/etc/pacman.conf", 1<<20) // no resource makes it, so the look is not recorded
	if err != nil || !strings.Contains(string(text), "IgnorePkg") {
		return nil, nil
	}
	res, err := tool.Query(ctx, v, "pacman-conf", "IgnorePkg")
	return pkgtool.Lines(res.Stdout), err
}
