package dnf

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

func start(specs ...string) func(*testing.T, string) host.Runner {
	return func(*testing.T, string) host.Runner {
		return &hosttest.Runner{Answer: newMachine().with(specs...).Answer}
	}
}

var pkg = pkgtooltest.Package

// Every wish from every state.
func TestPackageSuite(t *testing.T) {
	const p = "ccm-demo-rpm"
	const unavailable = "No match for argument: ccm-demo-rpm-9\nError: Unable to find a match: ccm-demo-rpm-9"
	resourcetest.Suite[resources.Package, resources.PackageState, resources.PackageProvider]{
		Type: resources.PackageType, Provider: packages,
		Starts: map[string]func(*testing.T, string) host.Runner{
			"absent": start(),
			"oldest": start(p + "-1.0"),
			"middle": start(p + "-1.1"),
			"newest": start(p + "-2.0"),
			"damaged": func(*testing.T, string) host.Runner {
				m := newMachine().with(p + "-2.0")
				m.damaged = true
				return &hosttest.Runner{Answer: m.Answer}
			},
		},
		Wants: map[string]resources.Package{
			"present": pkg(p, "present"), "absent": pkg(p, "absent"), "latest": pkg(p, "latest"),
			"1.0": pkg(p, "1.0"), "1.1-1.lab": pkg(p, "1.1-1.lab"), "0:2.0": pkg(p, "0:2.0"), "9": pkg(p, "9"),
		},
		Fails: map[string]string{
			"absent/9": unavailable, "oldest/9": unavailable, "middle/9": unavailable, "newest/9": unavailable,
			"damaged/present": "cannot open Packages database", "damaged/absent": "cannot open Packages database",
			"damaged/latest": "cannot open", "damaged/1.0": "cannot open", "damaged/1.1-1.lab": "cannot open", "damaged/0:2.0": "cannot open", "damaged/9": "cannot open",
		},
		Phrases: map[string][]string{
			"absent/present": {"installed"}, "absent/absent": {}, "absent/latest": {"installed latest"}, "absent/1.0": {"installed version 1.0"},
			"oldest/present": {}, "oldest/absent": {"uninstalled"}, "oldest/latest": {"upgraded to latest"}, "oldest/1.0": {},
			"oldest/1.1-1.lab": {"upgraded to 1.1-1.lab"}, "oldest/0:2.0": {"upgraded to 0:2.0"},
			"newest/latest": {}, "newest/1.0": {"downgraded to 1.0"}, "newest/1.1-1.lab": {"downgraded to 1.1-1.lab"}, "newest/0:2.0": {},
		},
	}.Run(t)
}

// README item 10: version matches any release, version-release only that one, both with or without epoch; the order
// is that of rpm, with the epochs of the repositories.
func TestEpochSuite(t *testing.T) {
	const p = "ccm-demo-rpm-epoch"
	starts := map[string]func(*testing.T, string) host.Runner{"absent": start()}
	for _, v := range []string{"0:1.5-1.lab", "1:0.9~rc1-1.lab", "1:0.9-1.lab", "1:0.9-2.lab"} {
		starts[v] = start(p + "-" + v)
	}
	wants := map[string]resources.Package{}
	for _, v := range []string{"1.5", "1.5-1.lab", "0.9", "0.9-1.lab", "1:0.9", "1:0.9-1.lab", "0.9~rc1-1.lab", "latest"} {
		wants[v] = pkg(p, v)
	}
	resourcetest.Suite[resources.Package, resources.PackageState, resources.PackageProvider]{
		Type: resources.PackageType, Provider: packages, Starts: starts, Wants: wants,
		Phrases: map[string][]string{
			"1:0.9-1.lab/0.9": {}, "1:0.9-2.lab/0.9": {}, "1:0.9-2.lab/1:0.9": {}, "1:0.9-1.lab/0.9-1.lab": {}, "1:0.9-1.lab/1:0.9-1.lab": {},
			"1:0.9-2.lab/0.9-1.lab":         {"downgraded to 0.9-1.lab"},
			"1:0.9-2.lab/1:0.9-1.lab":       {"downgraded to 1:0.9-1.lab"},
			"0:1.5-1.lab/0.9":               {"upgraded to 0.9"},
			"0:1.5-1.lab/0.9~rc1-1.lab":     {"upgraded to 0.9~rc1-1.lab"},
			"0:1.5-1.lab/1:0.9":             {"upgraded to 1:0.9"},
			"1:0.9~rc1-1.lab/0.9":           {"upgraded to 0.9"},
			"1:0.9-1.lab/1.5":               {"downgraded to 1.5"},
			"1:0.9-1.lab/latest":            {"upgraded to latest"},
			"0:1.5-1.lab/latest":            {"upgraded to latest"},
			"1:0.9-2.lab/latest":            {},
			"1:0.9~rc1-1.lab/0.9~rc1-1.lab": {},
		},
	}.Run(t)
}

// perform brings a package to its wish and returns the error, and what ran.
func perform(t *testing.T, m *machine, want resources.Package) ([]string, error) {
	t.Helper()
	r := &hosttest.Runner{Answer: m.Answer}
	h, _ := hosttest.New(t, r)
	have, err := packages.Status(t.Context(), &h.View, want)
	if err != nil {
		return r.Ran(), err
	}
	for _, a := range want.Decide(have).Actions {
		if err := want.Perform(t.Context(), h, packages, a); err != nil {
			return r.Ran(), err
		}
	}
	now, err := packages.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, want.Decide(now).Stable(), "%v: %v", want, now)
	return r.Ran(), nil
}

// The commands of the dnf document.
func TestCommands(t *testing.T) {
	for _, x := range []struct{ name, have, wish, command string }{
		{"ccm-demo-rpm", "", "present", "dnf install -y ccm-demo-rpm"},
		{"ccm-demo-rpm", "", "latest", "dnf install -y ccm-demo-rpm"},
		{"ccm-demo-rpm", "ccm-demo-rpm-1.0", "latest", "dnf install -y ccm-demo-rpm"},
		{"ccm-demo-rpm", "", "1.0", "dnf install -y ccm-demo-rpm-1.0"},
		{"ccm-demo-rpm", "ccm-demo-rpm-1.0", "1.1", "dnf install -y ccm-demo-rpm-1.1"},
		{"ccm-demo-rpm", "ccm-demo-rpm-1.1", "1.0-1.lab", "dnf downgrade -y ccm-demo-rpm-1.0-1.lab"},
		{"ccm-demo-rpm", "ccm-demo-rpm-1.1", "absent", "dnf remove -y ccm-demo-rpm"},
		{"ccm-demo-rpm.noarch", "", "1.0", "dnf install -y ccm-demo-rpm-1.0-\\*.noarch"},
		{"ccm-demo-rpm.noarch", "ccm-demo-rpm-1.1", "1.0-1.lab", "dnf downgrade -y ccm-demo-rpm-1.0-1.lab.noarch"},
		{"python3.11", "", "3.11.4", "dnf install -y python3.11-3.11.4"},
		{"glibc.i686", "glibc.x86_64", "2.34", "dnf install -y glibc-2.34-\\*.i686"},
	} {
		m := newMachine()
		if x.have != "" {
			m.with(x.have)
		}
		ran, err := perform(t, m, pkg(x.name, x.wish))
		require.NoError(t, err, x.wish)
		require.Contains(t, ran, x.command)
		require.True(t, strings.HasPrefix(ran[0], "rpm -q "+x.name+" --queryformat '%{NAME} %|EPOCH?{%{EPOCH}}:{0}| %{VERSION} %{RELEASE} %{ARCH}"), ran[0])
		for _, c := range ran {
			require.True(t, c == x.command || strings.HasPrefix(c, "rpm -q ") || strings.HasPrefix(c, "dnf -q repoquery "), c)
		}
	}
}

// A failure has dnf's own last words.
func TestFailures(t *testing.T) {
	m := newMachine()
	for _, x := range []struct{ name, ensure, err string }{
		{"nosuch", "present", "dnf install -y nosuch: exit status 1: No match for argument: nosuch\nError: Unable to find a match: nosuch"},
		{"ccm-demo-rpm-unmet", "present", "exit status 1: Error:\nProblem: conflicting requests\n" +
			"- nothing provides ccm-demo-rpm-nonexistent needed by ccm-demo-rpm-unmet-1.0-1.lab.noarch"},
		{"ccm-demo-rpm-broken", "1.0", "exit status 1: ccm-demo-rpm-broken: pre fails\n" +
			"error: %prein(ccm-demo-rpm-broken-1.0-1.lab.noarch) scriptlet failed, exit status 1\n" +
			"Error in PREIN scriptlet in rpm package ccm-demo-rpm-broken\nError: Transaction failed"},
		{"ccm-virt", "present", "dnf installed a different package for ccm-virt (use the name of the package itself, not what it provides)"},
		{"ccm-virt", "present", "dnf reports nothing to do: Package ccm-vi-1.0-1.lab.noarch is already installed."},
		{"ccm-vi-1.0", "present", "no rpm package named ccm-vi-1.0: rpm reads it as a version"},
		{"ccm-vi", "0.9", "dnf downgrade -y ccm-vi-0.9: exit status 1: No package ccm-vi-0.9 available.\nError: No packages marked for downgrade."},
		{"ccm-vi", "1-2-3", `expected a version such as 5.8, 5.8-9.el9 or 1:5.8-9.el9, got "1-2-3"`},
		{"ccm-vi", "x:1", `expected a version such as 5.8, 5.8-9.el9 or 1:5.8-9.el9, got "x:1"`},
		{"foo:x", "present", `expected the name of an rpm package such as zsh or glibc.i686, got "foo:x"`},
		{"~x", "present", `expected the name of an rpm package such as zsh or glibc.i686, got "~x"`},
	} {
		_, err := perform(t, m, pkg(x.name, x.ensure))
		require.ErrorContains(t, err, x.err)
	}
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.with("ccm-demo-rpm-1.0").Answer})
	err := packages.Downgrade(t.Context(), h, pkg("ccm-demo-rpm", "2.0"))
	require.EqualError(t, err, "dnf downgrade -y ccm-demo-rpm-2.0: dnf reports nothing to do: "+
		"Package ccm-demo-rpm of lowest version already installed, cannot downgrade it.")
}

// Of several installed packages of a name, as kernels are, any satisfies a
// version, and the newest decides.
func TestSeveral(t *testing.T) {
	m := newMachine().with("glibc-2.34-60.el9.x86_64", "glibc-2.34-60.el9.i686", "ccm-demo-rpm-1.0", "ccm-demo-rpm-1.1")
	for _, x := range []struct {
		name, wish string
		version    string
		order      int
	}{
		{"ccm-demo-rpm", "present", "1.1-1.lab", 0},
		{"ccm-demo-rpm", "1.0", "1.0-1.lab", 0},
		{"ccm-demo-rpm", "2.0", "1.1-1.lab", -1},
		{"ccm-demo-rpm", "latest", "1.1-1.lab", -1},
		{"glibc", "latest", "2.34-60.el9", -1},
		{"glibc.i686", "2.34", "2.34-60.el9", 0},
		{"glibc.x86_64", "2.34-83.el9", "2.34-60.el9", -1},
	} {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
		have, err := packages.Status(t.Context(), &h.View, pkg(x.name, x.wish))
		require.NoError(t, err)
		require.Equal(t, x.version, have.Metadata.Version, "%s %s", x.name, x.wish)
		require.Equal(t, x.order, have.Order, "%s %s", x.name, x.wish)
	}
	// A newer build for another architecture is no candidate.
	m.repo["glibc"] = slices.DeleteFunc(m.repo["glibc"], func(b build) bool { return b.release == "83.el9" && b.arch == "x86_64" })
	m.db["glibc"] = m.db["glibc"][:1]
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
	have, err := packages.Status(t.Context(), &h.View, pkg("glibc", "latest"))
	require.NoError(t, err)
	require.Equal(t, "2.34-60.el9", have.Candidate)
	require.Zero(t, have.Order)
}
