// Package apk provides packages on Alpine Linux. It was tried with apk-tools 2.14.
package apk

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
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
	Reason:      reason,
}

// reason returns the lines of a failure. Apk prints its progress to standard output.
func reason(stdout, stderr []string) []string {
	if len(stderr) > 0 {
		return pkgtool.Tail(stderr)
	}
	return pkgtool.Tail(stdout)
}

// packages manages packages of apk. Apk records each package that it was asked to install in
// /etc/apk/world, with the version if one was named: that is the hold. It also accepts the name of
// something that packages provide.
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
	Spec:    pkgtool.SpecWith("="),
	Command: command,
	Run:     change,
	RunOne:  run,
	Unavailable: func(failure string) bool {
		return strings.Contains(failure, "package mentioned in index not found")
	},
	Simulate:         simulate,
	SimulatesChanges: true,
	HoldCommand:      func(bool) []string { return command("install", resources.Package{}) },
	HoldSpec:         func(name, version string) string { return name + "=" + version },
	Holds:            pinned,
	Suffix:           ".apk",
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

// databases are the places where apk keeps what is installed: paragraphs of lines with a letter, a
// colon and a text (wiki.alpinelinux.org/wiki/Apk_spec).
var databases = []string{"/lib/apk/db/installed", "/usr/lib/apk/db/installed"}

// world is the file of the packages that apk was asked for.
const world = "/etc/apk/world"

func installed(_ context.Context, v *host.View, wants []resources.Package) ([]resources.PackageState, []error) {
	found, broken, err := readDatabase(v)
	states, errs := pkgtool.StatesOf(wants, found, err)
	for i, want := range wants {
		if hasBrokenFiles(broken[want.Name]) && !want.Ensure.IsAbsent() {
			states[i] = resources.PackageState{Problem: "half-installed"}
		}
	}
	return states, errs
}

// hasBrokenFiles reports whether apk fix repairs a package. If only a script failed, apk fix would forget
// that without running it again.
func hasBrokenFiles(flags string) bool { return strings.Contains(flags, "f") }

// readDatabase returns the packages of the database, and the flags of each broken one.
func readDatabase(v *host.View) (found map[string]resources.PackageMetadata, broken map[string]string, err error) {
	for _, path := range databases {
		var text []byte
		if text, err = v.Recording(nil).ReadUpTo(path, 256<<20); err == nil {
			found, broken = parseDatabase(string(text))
			return found, broken, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

func parseDatabase(text string) (found map[string]resources.PackageMetadata, broken map[string]string) {
	found, broken = make(map[string]resources.PackageMetadata), make(map[string]string)
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		m, problem := resources.PackageMetadata{Provider: Name}, ""
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
			case "f": // letters: f for files that could not be written, s for a script that failed
				problem = value
			}
		}
		if m.Name != "" {
			found[m.Name] = m
		}
		if m.Name != "" && problem != "" {
			broken[m.Name] = problem
		}
	}
	return found, broken
}

// pinned returns the packages whose versions are limited by the world. A package that was installed
// from a file has the digest of that file there, as in "name><Q1...", which limits nothing that ccm
// is asked for.
func pinned(_ context.Context, v *host.View, _ []resources.Package) (names []string, err error) {
	text, err := v.Recording(nil).ReadUpTo(world, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for word := range strings.FieldsSeq(string(text)) {
		at := strings.IndexAny(word, "=<>~")
		if at < 0 || strings.HasPrefix(word[at:], "><") {
			continue
		}
		name, _, _ := strings.Cut(word[:at], "@")
		names = append(names, name)
	}
	return names, err
}

// change runs a command. Apk tries to complete all broken packages with every command, and exits
// with the number of errors even if all that was asked for is done.
func change(ctx context.Context, h *host.Host, verb string, wants []resources.Package, specs []string) error {
	if verb == "remove" { // apk would change the world before it finds that others need a package
		if _, err := simulate(ctx, &h.View, verb, wants[0], specs); err != nil {
			return err
		}
	}
	if err := run(ctx, h, wants, slices.Concat(command(verb, wants[0]), wants[0].Options, specs)); err != nil || verb == "remove" || wants[0].Source != "" {
		return err
	}
	_, after, err := readDatabase(&h.View)
	if err != nil {
		return err
	}
	var broken, names []string
	for i, want := range wants {
		if hasBrokenFiles(after[want.Name]) {
			broken = append(broken, want.Name)
		}
		if specs[i] != want.Name {
			names = append(names, want.Name)
		}
	}
	if len(broken) > 0 { // add would leave them as they are
		if err := run(ctx, h, wants, append([]string{"apk", "--wait", "600", "fix"}, broken...)); err != nil {
			return err
		}
	}
	if len(names) > 0 { // they keep the version, without the hold
		return run(ctx, h, wants, append(command("install", resources.Package{}), names...))
	}
	return nil
}

// run runs a command. It returns an error if apk names one of the packages, or if a package is broken
// now that was not before; errors of others are logged.
func run(ctx context.Context, h *host.Host, wants []resources.Package, argv []string) error {
	before, wereBroken, err := readDatabase(&h.View)
	if err != nil {
		return err
	}
	return tool.Change(ctx, h, func(run func(argv ...string) (host.Result, error)) error {
		res, err := run(argv...)
		if err == nil || !isSummary(res) {
			return err
		}
		after, areBroken, readErr := readDatabase(&h.View)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		for name := range areBroken {
			if wereBroken[name] == "" {
				return &resource.DoneError{Err: err}
			}
		}
		for _, line := range pkgtool.Lines(res.Stderr) {
			for _, want := range wants {
				switch {
				case !isAbout(line, want.Name):
				case before[want.Name] != after[want.Name]:
					return &resource.DoneError{Err: err}
				default:
					return err
				}
			}
		}
		h.Log().Warn("apk reports errors of other packages", "command", host.Cmd{Argv: argv}.String(), "error", err.Error())
		return nil
	})
}

// isAbout reports whether a line is an error of a package, such as "ERROR: zlib-1.3-r0: ...".
func isAbout(line, name string) bool {
	version, ok := strings.CutPrefix(line, "ERROR: "+name+"-")
	return ok && version != "" && '0' <= version[0] && version[0] <= '9'
}

// isSummary reports whether apk exited because it counted errors: it made all changes that it could.
// The last line is such as "2 errors; 8 MiB in 17 packages".
func isSummary(res host.Result) bool {
	lines := pkgtool.Lines(res.Stdout)
	if len(lines) == 0 {
		return false
	}
	count, _, found := strings.Cut(lines[len(lines)-1], "; ")
	return found && (strings.HasSuffix(count, " error") || strings.HasSuffix(count, " errors"))
}

// offers asks apk which repositories have which versions.
func offers(ctx context.Context, v *host.View, wants []resources.Package, _ []resources.PackageState) ([][]string, error) {
	known, err := pkgtool.Ask(ctx, v, pkgtool.NamesOf(wants), func(ctx context.Context, v *host.View, names []string) (map[string][]string, error) {
		res, err := tool.Query(ctx, v, append([]string{"apk", "policy"}, names...)...)
		if err != nil {
			return nil, err
		}
		if len(res.Stdout) == 0 && strings.HasPrefix(string(res.Stderr), "ERROR: ") && !strings.Contains(string(res.Stderr), "no such package") {
			return nil, pkgtool.ExitError("apk policy", res.Code, res.LastWords())
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
	if err == nil && res.Code != 0 && !isSummary(res) {
		err = tool.CouldNot("apk", verb, res)
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
	for _, name := range specs {
		if err == nil && verb == "remove" && !slices.Contains(t.Removes, name) {
			err = diag.SubjectCannot("apk", "remove %s%s", name, neededBy(res, name))
		}
	}
	return t, err
}

// neededBy returns who needs a package, from lines such as "  zlib: curl git" and those below it. It
// is a package, or an entry of the world.
func neededBy(res host.Result, name string) string {
	var needs []string
	in := false
	for line := range strings.Lines(string(res.Stdout)) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(line, " ") {
			in = false
			continue
		}
		if pkg, ok := strings.CutSuffix(words[0], ":"); ok {
			in, words = pkg == name, words[1:]
		}
		if in {
			needs = append(needs, words...)
		}
	}
	if len(needs) == 0 {
		return tool.LastWords(res)
	}
	return ", needed by " + strings.Join(needs, ", ")
}
