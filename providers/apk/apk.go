// Package apk provides packages on Alpine Linux. It was made from the documentation and from
// outputs of apk-tools 2 that others have recorded, and was not run on the real system.
package apk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "apk"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages)}
}

// tool runs the commands of apk.
var tool = &pkgtool.Tool{
	Doc:         "Manages packages with apk.",
	Commands:    []string{"apk"},
	Families:    []string{"alpine"},
	Index:       []string{"/var/cache/apk/APKINDEX.*.tar.gz", "/etc/apk/cache/APKINDEX.*.tar.gz"},
	UpdateIndex: []string{"apk", "--wait", "600", "update"},
	Reason:      func(stdout, stderr []string) []string { return pkgtool.Tail(append(stdout, stderr...)) },
}

// packages manages packages of apk. Apk records each package that it was asked to install in
// /etc/apk/world, with the version if one was named. It also accepts the name of something that
// packages provide.
var packages = &pkgtool.Packages{
	Tool:         tool,
	Name:         Name,
	Repositories: []string{"/etc/apk", "/var/cache/apk"},
	CheckName:    pkgtool.NoArchitecture,
	States:       installed,
	Offers:       offers,
	AsksFirst:    true,
	Compare: func(ctx context.Context, v *host.View, a, b string) (int, error) {
		return pkgtool.CompareByCommand(ctx, v, tool, "apk", "version", "-t", a, b)
	},
	Spec:     pkgtool.SpecWith("="),
	Command:  command,
	Simulate: simulate,
	NoHold:   "set its version in ensure, which pins it in /etc/apk/world",
	Suffix:   ".apk",
	List: func(ctx context.Context, v *host.View, prefix string) ([]string, error) {
		return pkgtool.ListLines(ctx, v, tool, prefix, "apk", "info", "-q")
	},
}

// command returns the words of a command. It waits up to ten minutes for another apk, as apt does.
func command(verb string, want resources.Package) []string {
	argv := []string{"apk", "--wait", "600"}
	switch {
	case verb == "remove" && want.Ensure == resources.PackagePurged:
		return append(argv, "del", "--purge")
	case verb == "remove":
		return append(argv, "del")
	case want.Source != "":
		return append(argv, "add", "--allow-untrusted")
	case want.Ensure == resources.PackageLatest:
		return append(argv, "add", "--upgrade")
	}
	return append(argv, "add")
}

// database is where apk keeps what is installed: paragraphs of lines with a letter, a colon and
// a text (wiki.alpinelinux.org/wiki/Apk_spec).
const database = "/lib/apk/db/installed"

func installed(_ context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	text, err := v.Recording(nil).ReadUpTo(database, 256<<20)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return pkgtool.StatesOf(wants, parseDatabase(string(text)), err)
}

func parseDatabase(text string) map[string]resources.PackageMetadata {
	found := make(map[string]resources.PackageMetadata)
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		m := resources.PackageMetadata{Provider: Name}
		for line := range strings.Lines(paragraph) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			switch key {
			case "P":
				m.Name = value
			case "V":
				m.Version = value
			case "A":
				m.Arch = value
			case "T":
				m.Summary = value
			case "U":
				m.URL = value
			case "L":
				m.License = value
			}
		}
		if m.Name != "" {
			found[m.Name] = m
		}
	}
	return found
}

// offers asks apk which repositories have which versions.
func offers(ctx context.Context, v *host.View, wants []resources.Package, _ []resources.PackageState) ([][]string, error) {
	known, err := pkgtool.Ask(ctx, v, pkgtool.NamesOf(wants), func(ctx context.Context, v *host.View, names []string) (map[string][]string, error) {
		res, err := tool.Query(ctx, v, append([]string{"apk", "policy"}, names...)...)
		if err != nil {
			return nil, err
		}
		if len(res.Stdout) == 0 && strings.HasPrefix(string(res.Stderr), "ERROR: ") && !strings.Contains(string(res.Stderr), "no such package") {
			return nil, fmt.Errorf("%s: exit status %d%s", "apk policy", res.Code, res.LastWords())
		}
		return parsePolicy(string(res.Stdout)), nil
	})
	list := make([][]string, len(wants))
	for i, want := range wants {
		list[i] = known[want.Name]
	}
	return list, err
}

// parsePolicy reads the versions of packages in repositories. Below the line "NAME policy:" there is
// an indented line with a colon for each version, and below that, further indented, its places: the
// database of installed packages or repositories. It leaves out repositories with a tag
// ("@edge URL"), which apk uses only for packages that are named with the tag.
func parsePolicy(out string) map[string][]string {
	known := make(map[string][]string)
	name, version := "", ""
	for line := range strings.Lines(out) {
		text := strings.TrimSpace(line)
		if pkg, ok := strings.CutSuffix(text, " policy:"); ok && !strings.HasPrefix(line, " ") {
			name = pkg
		} else if v, ok := strings.CutSuffix(text, ":"); ok && !strings.Contains(v, "/") {
			version = v
		} else if text != "" && !strings.HasPrefix(text, "@") && !strings.HasSuffix(text, "apk/db/installed") && !slices.Contains(known[name], version) {
			known[name] = append(known[name], version)
		}
	}
	return known
}

// simulate asks apk what it would do, which it prints in lines such as "(1/2) Installing zlib
// (1.2.13-r0)". If others need a package, apk does not remove it, and exits 0.
func simulate(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (t pkgtool.Simulation, err error) {
	argv := slices.Concat(command(verb, want), []string{"--simulate"}, want.Options, specs)
	res, err := tool.Query(ctx, v, argv...)
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("%s could not %s it: exit status %d%s", "apk", verb, res.Code, tool.LastWords(res))
	}
	for _, line := range pkgtool.Lines(res.Stdout) {
		words := strings.Fields(line)
		if len(words) < 3 || !strings.HasPrefix(line, "(") {
			continue
		}
		switch words[1] {
		case "Installing":
			t.Installs = append(t.Installs, words[2])
		case "Purging":
			t.Removes = append(t.Removes, words[2])
		}
	}
	if err == nil && verb == "remove" && !slices.Contains(t.Removes, specs[len(specs)-1]) {
		err = fmt.Errorf("apk did not remove it%s", tool.LastWords(res))
	}
	return t, err
}
