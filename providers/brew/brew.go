// Package brew provides formulae of Homebrew. It was made from the documentation and from
// outputs that others have recorded, and was not run on the real system.
package brew

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	rpmversion "github.com/knqyf263/go-rpm-version"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "brew"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages)}
}

// tool runs the commands of brew, which refuses root: ccm runs as the user that Homebrew
// belongs to. By HOMEBREW_NO_AUTO_UPDATE it reads its index only when ccm has it do so.
var tool = &pkgtool.Tool{
	Doc:         "Manages packages with Homebrew, as the user that owns it.",
	Commands:    []string{"brew"},
	Families:    []string{"darwin"}, // where no fact says which, it is the only one
	Env:         []string{"HOMEBREW_NO_AUTO_UPDATE=1", "HOMEBREW_NO_ENV_HINTS=1", "HOMEBREW_NO_COLOR=1"},
	UpdateIndex: []string{"brew", "update"},
	Index: []string{
		"/opt/homebrew/.git/FETCH_HEAD", "/usr/local/Homebrew/.git/FETCH_HEAD", "/home/linuxbrew/.linuxbrew/Homebrew/.git/FETCH_HEAD",
	},
	ReadsIndex: true, // brew fetches it for a query about a formula
	OfUser:     true,
	Reason:     func(_, stderr []string) []string { return pkgtool.Tail(stderr) },
}

// packages manages formulae. Brew offers one version of each. It accepts also other names of a
// formula, and names of casks, so repositories are asked before an installation.
var packages = &pkgtool.Packages{
	Tool: tool,
	Name: Name,
	CheckName: func(name string) error { // python@3.12 is a formula of its own
		return pkgtool.NoArchitecture(strings.ReplaceAll(name, "@", ""))
	},
	States:    installed,
	Offers:    offers,
	AsksFirst: true,
	Compare: func(_ context.Context, _ *host.View, a, b string) (int, error) {
		return rpmversion.NewVersion(a).Compare(rpmversion.NewVersion(b)), nil
	},
	Spec:     func(name, _ string) (string, error) { return name, nil },
	Command:  command,
	Simulate: simulate,
	HoldCommand: func(hold bool) []string {
		return []string{"brew", map[bool]string{true: "pin", false: "unpin"}[hold]}
	},
	Holds: func(ctx context.Context, v *host.View, _ []resources.Package) ([]string, error) {
		res, err := tool.Query(ctx, v, "brew", "list", "--formula", "--pinned")
		return pkgtool.Lines(res.Stdout), err
	},
	List: func(ctx context.Context, v *host.View, prefix string) ([]string, error) {
		return pkgtool.ListLines(ctx, v, tool, prefix, "brew", "list", "--formula", "-1")
	},
}

// command returns the words of a command. There is none for an older version: brew has some older
// versions as formulae with other names, such as python@3.12.
func command(verb string, _ resources.Package) []string {
	if verb == "remove" {
		return []string{"brew", "uninstall", "--formula"}
	}
	return []string{"brew", "install", "--formula"} // it upgrades what is installed
}

// A formula has the fields that are used of the JSON about a formula (docs.brew.sh/Querying-Brew).
type formula struct {
	Name     string
	Desc     string
	License  string
	Homepage string
	Versions struct{ Stable string }
	Revision int
}

// version returns the version as brew list prints it, with the revision after an underscore.
func (f formula) version() string {
	if f.Revision > 0 {
		return fmt.Sprintf("%s_%d", f.Versions.Stable, f.Revision)
	}
	return f.Versions.Stable
}

// installed asks brew for installed versions. Of several versions of a formula the last one counts.
// Brew prints nothing for formulae that are not installed, and exits 1.
func installed(ctx context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	found := make(map[string]resources.PackageMetadata)
	_, err := pkgtool.Ask(ctx, v, pkgtool.NamesOf(wants), func(ctx context.Context, v *host.View, names []string) (any, error) {
		res, err := tool.Query(ctx, v, append([]string{"brew", "list", "--formula", "--versions"}, names...)...)
		if err == nil && res.Code != 0 && strings.Contains(string(res.Stderr), "Error: ") && !strings.Contains(string(res.Stderr), "No such keg") &&
			!strings.Contains(string(res.Stderr), "No available formula") {
			err = pkgtool.ExitError("brew list", res.Code, res.LastWords())
		}
		for _, line := range pkgtool.Lines(res.Stdout) {
			if words := strings.Fields(line); len(words) > 1 {
				found[words[0]] = resources.PackageMetadata{Name: words[0], Version: words[len(words)-1], Provider: Name}
			}
		}
		return nil, err
	})
	return pkgtool.StatesOf(wants, found, err)
}

// offers asks brew about all formulae at once or, if that fails, about each by itself.
func offers(ctx context.Context, v *host.View, wants []resources.Package, _ []resources.PackageState) ([][]string, error) {
	known, err := pkgtool.Ask(ctx, v, pkgtool.NamesOf(wants), func(ctx context.Context, v *host.View, names []string) ([]formula, error) {
		list, err := info(ctx, v, names)
		if err == nil || len(names) == 1 {
			return list, err
		}
		for _, name := range names {
			some, err := info(ctx, v, []string{name})
			if err != nil {
				return nil, err
			}
			list = append(list, some...)
		}
		return list, nil
	})
	list := make([][]string, len(wants))
	for i, want := range wants {
		for _, f := range known {
			if f.Name == want.Name && f.Versions.Stable != "" {
				list[i] = []string{f.version()}
			}
		}
	}
	return list, err
}

// info asks brew about formulae. If brew does not know one of several names, it answers for none.
func info(ctx context.Context, v *host.View, names []string) ([]formula, error) {
	res, err := tool.Query(ctx, v, append([]string{"brew", "info", "--json=v2", "--formula"}, names...)...)
	if err != nil {
		return nil, err
	}
	if res.Code != 0 {
		if len(names) == 1 && strings.Contains(string(res.Stderr), "No available formula") {
			return nil, nil
		}
		return nil, pkgtool.ExitError("brew info", res.Code, tool.LastWords(res))
	}
	var answer struct{ Formulae []formula }
	if err := json.Unmarshal(res.Stdout, &answer); err != nil {
		return nil, fmt.Errorf("brew info: %w", diag.Expected("JSON: %w", err))
	}
	return answer.Formulae, nil
}

// simulate asks brew what it would install. There is no simulation of a removal. Brew refuses to
// remove a formula that others need, so it is asked for these.
func simulate(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (t pkgtool.Simulation, err error) {
	if verb == "remove" {
		res, err := tool.Query(ctx, v, append([]string{"brew", "uses", "--installed", "--formula"}, specs...)...)
		users := slices.DeleteFunc(pkgtool.Lines(res.Stdout), func(name string) bool { return slices.Contains(specs, name) })
		if err == nil && len(users) > 0 && !slices.Contains(want.Options, "--ignore-dependencies") {
			err = diag.SubjectCannot("brew", "remove it, because it is required by %s", strings.Join(users, ", "))
		}
		return pkgtool.Simulation{Removes: specs}, err
	}
	res, err := tool.Query(ctx, v, slices.Concat(command(verb, want), []string{"--dry-run"}, want.Options, specs)...)
	if err == nil && res.Code != 0 {
		err = tool.CouldNot("brew", verb, res)
	}
	// "==> Would install 2 formulae:", and the names in the next line.
	lines := pkgtool.Lines(res.Stdout)
	for i, line := range lines {
		if strings.HasPrefix(line, "==> Would install ") && i+1 < len(lines) {
			t.Installs = append(t.Installs, strings.Fields(lines[i+1])...)
		}
	}
	return t, err
}
