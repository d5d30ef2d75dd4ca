package stdlib_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// languages simulates the parts of pip, npm and gem that the type uses. The versions of the package x are in a file
// of the given directory.
type languages struct{ root string }

// Run implements host.Runner.
func (m languages) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	argv := c.Argv
	line, file := strings.Join(argv, " "), filepath.Join(m.root, "opt/x/versions")
	text, _ := os.ReadFile(file)
	versions := strings.Fields(string(text))
	said := func(out string) (host.Result, error) { return host.Result{Stdout: []byte(out)}, nil }
	set := func(versions ...string) (host.Result, error) {
		return host.Result{}, plant(m.root, map[string]string{"/opt/x/versions": strings.Join(versions, " "), "/opt/x/bin/python3": ""})
	}
	last := argv[len(argv)-1]
	switch {
	case filepath.Base(argv[0]) == "id": // the groups of the user
		return said(fmt.Sprint(os.Getgid()))
	case strings.Contains(line, "-m pip list"):
		if len(versions) == 0 {
			return said(`[{"name": "other", "version": "1"}]`)
		}
		return said(fmt.Sprintf(`[{"name": "other", "version": "1"}, {"name": "X", "version": %q}]`, versions[0]))
	case strings.Contains(line, "-m pip index versions x"):
		return said("x (2.0)\nAvailable versions: 2.0, 1.0\n  INSTALLED: 1.0\n")
	case strings.HasPrefix(line, "npm view x@latest version --json"):
		return said(`"2.0"`)
	case strings.HasPrefix(line, "gem list --remote --exact x"):
		return said("\n*** REMOTE GEMS ***\n\nx (2.0 ruby java x86_64-linux)\n")
	case strings.Contains(line, "-m venv"):
		return set()
	case strings.HasPrefix(line, "npm ls"):
		out := host.Result{Stdout: []byte(`{"name": "lib", "problems": ["missing: y"]}`), Code: 1}
		if len(versions) > 0 {
			out.Stdout = fmt.Appendf(nil, `{"dependencies": {"x": {"version": %q}, "y": {"missing": true}}}`, versions[0])
		}
		return out, nil
	case strings.HasPrefix(line, "gem list"):
		if len(versions) == 0 {
			return said("\n*** LOCAL GEMS ***\n\n")
		}
		return said("\n*** LOCAL GEMS ***\n\nx (" + strings.Join(versions, ", default: ") + ")\n")
	case strings.Contains(line, "uninstall"):
		return set()
	case strings.HasPrefix(line, "gem install"):
		for _, word := range argv[2:] {
			if version, named := strings.CutPrefix(word, "x:"); named && !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
		}
		if last == "x" {
			last = "2.0"
		}
		if !strings.HasPrefix(last, "x:") {
			versions = append([]string{last}, versions...)
		}
		return set(versions...)
	case slices.Contains(argv, "install"):
		_, version, _ := strings.Cut(strings.Replace(last, "==", "@", 1), "@")
		if version == "" && len(versions) > 0 && !slices.Contains(argv, "--upgrade") {
			version = versions[0] // pip keeps an installed version
		}
		if version == "" || version == "latest" {
			version = "2.0"
		}
		return set(version)
	}
	return host.Result{}, fmt.Errorf("command %q not found", line)
}

func TestLanguagePackage(t *testing.T) {
	for _, manager := range []string{"pip", "npm", "gem"} {
		with := func(props string) string {
			return fmt.Sprintf(`{ "x", manager = %q, path = "/opt/x"%s }`, manager, props)
		}
		t.Run(manager, suite{
			name: "language_package", machine: func(root string) host.Runner { return languages{root} },
			starts: map[string]map[string]string{
				"nothing": {"/opt/": ""},
				"empty":   {"/opt/x/bin/python3": ""},
				"old":     {"/opt/x/bin/python3": "", "/opt/x/versions": "1.0"},
				"new":     {"/opt/x/bin/python3": "", "/opt/x/versions": "2.0"},
			},
			wants: map[string]string{
				"present": with(""), "absent": with(`, ensure = "absent"`), "1.0": with(`, version = "1.0"`), "user": with(fmt.Sprintf(`, version = "2.0", user = "%d"`, os.Getuid())),
				"latest": with(`, ensure = "latest", options = { "--quiet" }`),
			},
			phrases: map[string][]string{
				"nothing/present": {"installed the package"}, "nothing/absent": {}, "old/present": {}, "old/1.0": {}, "new/1.0": {"replaced the package"},
				"empty/user": {"installed the package"}, "old/user": {"replaced the package"}, "new/absent": {"removed the package"},
				"nothing/latest": {"installed the package"}, "empty/latest": {"installed the package"}, "old/latest": {"updated the package"}, "new/latest": {},
			},
		}.run)
	}
	with := func(props string) string { return `{ "x", manager = "gem", path = "/opt/x", ` + props + ` }` }
	suite{
		name: "language_package", machine: func(root string) host.Runner { return languages{root} },
		starts: map[string]map[string]string{"nothing": {"/opt/": ""}, "one": {"/opt/x/versions": "2.0"}, "both": {"/opt/x/versions": "2.0 1.0"}},
		wants:  map[string]string{"versions": with(`versions = { "1.0", "2.0" }`), "absent": with(`ensure = "absent"`)},
		phrases: map[string][]string{
			"nothing/versions": {"installed the package"}, "one/versions": {"replaced the package"}, "both/versions": {}, "both/absent": {"removed the package"},
		},
	}.run(t)
	for args, want := range map[string]string{
		`"x"`: `manager is required`,
		`{ "x", manager = "pip", ensure = "latest", version = "1" }`: `ensure: latest cannot be used with version or source`,
		`{ "x", manager = "cpan" }`:                                  `manager: expected one of pip, npm, gem, got "cpan"`,
		`{ "x", manager = "pip", versions = { "1" } }`:               `versions: is for gems`,
		`{ "x", manager = "gem", versions = { "1 2" } }`:             `versions: expected a version such as 3.0.2, got "1 2"`,
		`{ "--x", manager = "pip" }`:                                 `name: expected a package name, got "--x"`,
		`{ "x", manager = "pip", version = ">= 1" }`:                 `version: expected a version such as 3.0.2, got ">= 1"`,
		`{ "x", manager = "pip", user = "-s" }`:                      `user: expected a user name, got "-s"`,
		`{ "x", manager = "pip", sorce = "x.whl" }`:                  `did you mean "source"?`,
	} {
		require.Contains(t, mistake(t, `require "std.language_package" `+args), want)
	}
}
