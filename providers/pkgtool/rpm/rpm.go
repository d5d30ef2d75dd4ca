// Package rpm has the common parts of dnf and zypper: the rpm database, and the order of
// versions.
//
// Begin with [Records].
package rpm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// end ends the description of a package, which may have any other characters.
const end = "\x1e"

// format is the output format of rpm: the NEVRA in five words, texts, and the lines of the
// description.
const format = `%{NAME} %|EPOCH?{%{EPOCH}}:{0}| %{VERSION} %{RELEASE} %{ARCH}\t%{LICENSE}\t%{URL}\t%{SUMMARY}\n%{DESCRIPTION}\n` + end + `\n`

// A Record is rpm's data on an installed package.
type Record struct {
	Name string
	EVR
	Arch                               string
	license, url, summary, description string
	// Unfinished is set if a package manager was killed while it changed the package.
	Unfinished bool
}

// NEVRA formats r as dnf does.
func (r Record) NEVRA() string {
	version := r.WithoutEpoch()
	if r.Epoch != "0" {
		version = r.Full()
	}
	return r.Name + "-" + version + "." + r.Arch
}

// Is reports whether a name, with or without an architecture, means r.
func (r Record) Is(name string) bool { return name == r.Name || name == r.Name+"."+r.Arch }

// IsOtherVersionOf reports whether r and o are versions of one package.
func (r Record) IsOtherVersionOf(o Record) bool {
	return r.Name == o.Name && r.Arch == o.Arch && r.EVR != o.EVR
}

// AtOnce is the largest number of packages in one command, because the output of a command is
// bounded. A run seldom has more.
const AtOnce = 2000

// Records asks rpm for all packages at once. The result has an entry for every package that rpm
// answered for, without records if it is not installed.
func Records(ctx context.Context, v *host.View, tool *pkgtool.Tool, names []string) (map[string][]Record, error) {
	return host.AskMany(v, "rpm -q", names, func(names []string) (map[string][]Record, error) { return askRecords(ctx, v, tool, names) })
}

func askRecords(ctx context.Context, v *host.View, tool *pkgtool.Tool, names []string) (map[string][]Record, error) {
	found := make(map[string][]Record, len(names))
	for some := range slices.Chunk(names, AtOnce) {
		argv := append([]string{"rpm", "-q"}, some...)
		res, err := tool.Query(ctx, v, append(argv, "--queryformat", format)...)
		if err != nil {
			return nil, err
		}
		// If rpm cannot read its database it reports that, and then that no package is installed.
		if strings.HasPrefix(string(res.Stderr), "error:") || strings.Contains(string(res.Stderr), "\nerror:") {
			return nil, fmt.Errorf("rpm -q%s", res.LastWords())
		}
		if err := parseRecords(string(res.Stdout), found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// States returns the states of packages from the records that read returns.
func States(ctx context.Context, v *host.View, wants []resources.Package, provider string,
	read func(context.Context, *host.View, []string) (map[string][]Record, error)) ([]resources.PackageState, []error) {
	states, errs := make([]resources.PackageState, len(wants)), make([]error, len(wants))
	names := make([]string, len(wants))
	for i, want := range wants {
		names[i] = want.Name
	}
	found, err := pkgtool.Ask(ctx, v, names, read)
	for i, want := range wants {
		if errs[i] = err; err == nil {
			states[i], errs[i] = state(want, found, provider)
		}
	}
	return states, errs
}

// halfInstalled is the Problem of an unfinished package.
const halfInstalled = "half-installed"

// state returns the state of a package from its records. There may be several, of several
// architectures or of packages such as kernels: the newest counts, or a desired one.
func state(want resources.Package, found map[string][]Record, provider string) (s resources.PackageState, err error) {
	list, ok := found[want.Name]
	if !ok {
		return s, diag.None("rpm package named %s: rpm reads it as a version", want.Name)
	}
	if len(list) == 0 {
		return s, nil
	}
	r := slices.MaxFunc(list, func(a, b Record) int { return a.Compare(b.EVR) })
	if want.Ensure.IsVersion() {
		desired, err := ParseEVR(string(want.Ensure))
		if err != nil {
			return s, err
		}
		if i := slices.IndexFunc(list, func(r Record) bool { return r.Compare(desired) == 0 }); i >= 0 {
			r = list[i]
		}
	}
	if r.Unfinished && !want.Ensure.IsAbsent() {
		s.Problem = halfInstalled
		return s, nil
	}
	s.Metadata = resources.PackageMetadata{
		Name: r.Name, Version: r.WithoutEpoch(), Arch: r.Arch, License: r.license, URL: r.url,
		Summary: r.summary, Description: r.description, Provider: provider,
		Extension: resources.PackageExtension{Epoch: r.Epoch, Release: r.Release},
	}
	return s, nil
}

// parseRecords reads rpm's output into found. A package is found by its name and by its name with
// architecture.
func parseRecords(out string, found map[string][]Record) error {
	for out != "" {
		var line string
		line, out, _ = strings.Cut(out, "\n")
		if name, ok := absent(line); ok {
			found[name] = nil
			continue
		}
		texts := strings.SplitN(line, "\t", 4)
		words := strings.Split(texts[0], " ")
		if len(texts) != 4 || len(words) != 5 {
			return fmt.Errorf("rpm -q: %w", diag.Expected("a line about a package").Got("%.200q", line))
		}
		r := Record{Name: words[0], EVR: EVR{words[1], words[2], words[3]}, Arch: words[4]}
		r.license, r.url, r.summary = known(texts[1]), known(texts[2]), known(texts[3])
		var ok bool
		if r.description, out, ok = strings.Cut(out, "\n"+end+"\n"); !ok {
			return fmt.Errorf("rpm -q: %w", diag.Unterminated("description of %s", r.Name))
		}
		r.description = known(r.description)
		for _, key := range []string{r.Name, r.Name + "." + r.Arch} {
			if !slices.Contains(found[key], r) { // both names may have been asked for
				found[key] = append(found[key], r)
			}
		}
	}
	return nil
}

// absent returns the package that a line reports as not installed.
func absent(line string) (name string, ok bool) {
	name, begins := strings.CutPrefix(line, "package ")
	name, ends := strings.CutSuffix(name, " is not installed")
	return name, begins && ends
}

// known returns the value of a tag, "" if rpm prints (none).
func known(s string) string {
	if s == "(none)" {
		return ""
	}
	return s
}

// File returns the Packages.File of rpm.
func File(tool *pkgtool.Tool) func(ctx context.Context, v *host.View, path string) (pkgtool.File, error) {
	return func(ctx context.Context, v *host.View, path string) (pkgtool.File, error) {
		return tool.AskFile(ctx, v, "rpm", "-qp", "--queryformat", "%{NAME} %|EPOCH?{%{EPOCH}}:{0}|:%{VERSION}-%{RELEASE}", path)
	}
}
