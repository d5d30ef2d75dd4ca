package pkgtool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// The functions in this file are fields of [Packages] for several package managers.

// NoArchitecture is a CheckName for names without an architecture.
func NoArchitecture(name string) error {
	if strings.ContainsAny(name, ":~@") || strings.HasPrefix(name, ".") {
		return diag.Expected("the name of a package such as zsh").Got("%q", name)
	}
	return nil
}

// SpecWith returns a Spec that puts a separator between the name and the version.
func SpecWith(separator string) func(name, version string) (string, error) {
	return func(name, version string) (string, error) {
		if version != "" {
			name += separator + version
		}
		return name, nil
	}
}

// StatesOf returns the states of packages; found has the installed ones. If err is not nil, it is
// the error of all.
func StatesOf(wants []resources.Package, found map[string]resources.PackageMetadata, err error) ([]resources.PackageState, []error) {
	states, errs := make([]resources.PackageState, len(wants)), make([]error, len(wants))
	for i, want := range wants {
		states[i].Metadata, errs[i] = found[want.Name], err
	}
	return states, errs
}

// AnyHold reports whether a package manages its hold.
func AnyHold(wants []resources.Package) bool {
	return slices.ContainsFunc(wants, func(want resources.Package) bool { return want.Hold != nil })
}

// CompareByCommand is a Compare that runs a command which prints <, = or >.
func CompareByCommand(ctx context.Context, v *host.View, tool *Tool, argv ...string) (int, error) {
	if n := len(argv); argv[n-1] == argv[n-2] {
		return 0, nil
	}
	res, err := tool.Query(ctx, v, argv...)
	if err != nil {
		return 0, err
	}
	switch word := strings.TrimSpace(string(res.Stdout)); word {
	case "<":
		return -1, nil
	case "=":
		return 0, nil
	case ">":
		return 1, nil
	default:
		return 0, fmt.Errorf("%s: %w: %w%s", host.Cmd{Argv: argv}, diag.ExitStatus(res.Code), diag.Expected("<, = or >").Got("%.200q", word), res.LastWords())
	}
}

// ListLines is a List that runs a command which prints one installed package a line.
func ListLines(ctx context.Context, v *host.View, tool *Tool, prefix string, argv ...string) ([]string, error) {
	res, err := tool.Query(ctx, v, argv...)
	if err != nil || res.Code != 0 {
		return nil, err
	}
	names := slices.DeleteFunc(Lines(res.Stdout), func(name string) bool { return !strings.HasPrefix(name, prefix) })
	slices.Sort(names)
	return slices.Compact(names), nil
}
