package pkgtooltest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

// A Machine is a model of the machine of a package manager: repositories and installed packages. The
// test of a provider uses it to answer commands as the package manager would.
type Machine struct {
	Repo  map[string][]string // the versions of each package, the oldest first
	DB    map[string]string   // the installed versions
	Holds map[string]bool
	Root  string // where its files are
}

// Install installs what the specs describe, each a name or a name, the separator and a version. A
// spec that no repository has is returned, and then nothing is installed.
func (m *Machine) Install(separator string, specs []string) (unknown string) {
	db := maps.Clone(m.DB)
	for _, spec := range specs {
		if strings.HasPrefix(spec, "-") {
			continue
		}
		name, version, _ := strings.Cut(spec, separator)
		versions := m.Repo[name]
		if version == "" && len(versions) > 0 {
			version = versions[len(versions)-1]
		}
		if !slices.Contains(versions, version) {
			return spec
		}
		db[name] = version
	}
	m.DB = db
	return ""
}

// OK returns the result of a command that succeeded.
func OK(stdout string) host.Result { return host.Result{Stdout: []byte(stdout)} }

// Failed returns the result of a command that failed.
func Failed(code int, stdout, stderr string) host.Result {
	return host.Result{Stdout: []byte(stdout), Stderr: []byte(stderr), Code: code}
}

// WordsBehind returns the words of a command after the first n, without options.
func WordsBehind(argv []string, n int) []string {
	return slices.DeleteFunc(slices.Clone(argv[n:]), func(s string) bool { return strings.HasPrefix(s, "-") })
}

// Suite tests a provider with every desired state from every state of the package demo, of which
// repositories have versions 1.0-1, 1.1-1 and 2.0-1 or, with onlyNewest, the last of these. Begin is
// called for each machine before it answers.
func Suite(t *testing.T, p *pkgtool.Packages, answer func(m *Machine, c host.Cmd) (host.Result, error), onlyNewest bool, begin ...func(m *Machine)) {
	versions := []string{"1.0-1", "1.1-1", "2.0-1"}
	start := func(version string) func(*testing.T, string) host.Runner {
		return func(_ *testing.T, root string) host.Runner {
			m := &Machine{Repo: map[string][]string{"demo": versions}, DB: map[string]string{}, Holds: map[string]bool{}, Root: root}
			if onlyNewest {
				m.Repo["demo"] = versions[2:]
			}
			if version != "" {
				m.DB["demo"] = version
			}
			for _, f := range begin {
				f(m)
			}
			return &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) { return answer(m, c) }}
		}
	}
	wants := map[string]resources.Package{}
	for _, ensure := range []string{"present", "absent", "purged", "latest", "2.0-1", "9-9", ">= 1.1-1, < 9"} {
		wants[ensure] = Package("demo", ensure)
	}
	if p.HoldCommand != nil {
		held := Package("demo", "2.0-1")
		held.Hold = new(true)
		wants["held"] = held
	}
	const missing = "no repository provides version 9-9 of demo, only "
	fails := map[string]string{"absent/9-9": missing, "oldest/9-9": missing, "middle/9-9": missing, "newest/9-9": missing}
	if !onlyNewest {
		wants["1.0-1"], wants["< 2"] = Package("demo", "1.0-1"), Package("demo", "< 2")
	}
	resourcetest.Suite[resources.Package, resources.PackageState, resources.PackageProvider]{
		Type: resources.PackageType, Provider: p, Wants: wants, Fails: fails,
		Starts: map[string]func(*testing.T, string) host.Runner{
			"absent": start(""), "oldest": start("1.0-1"), "middle": start("1.1-1"), "newest": start("2.0-1"),
		},
		Phrases: map[string][]string{
			"absent/present": {"installed"}, "absent/absent": {}, "absent/latest": {"installed latest"}, "absent/2.0-1": {"installed version 2.0-1"},
			"oldest/present": {}, "oldest/absent": {"uninstalled"}, "oldest/purged": {"purged"}, "oldest/latest": {"upgraded to latest"},
			"oldest/>= 1.1-1, < 9": {"upgraded"}, "middle/>= 1.1-1, < 9": {}, "newest/latest": {}, "newest/present": {},
		},
	}.Run(t)
}
