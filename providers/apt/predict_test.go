package apt

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

// TestPredict: one call predicts all packages that apt can install. Only if that fails, there is a call for each.
func TestPredict(t *testing.T) {
	pkgtooltest.Predict(t, "/var/lib/apt/periodic/update-success-stamp", []pkgtooltest.PredictionCase{
		{Wants: []resources.Package{pkg("ccm-demo", "present"), pkg("ccm-demo-epoch", "latest")}, Caveats: []string{"version 2.0", "version 1:0.9-2+lab1"}, Errs: []string{"", ""},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache"}},
		{Wants: []resources.Package{pkg("ccm-demo-dep", "present")}, Caveats: []string{"version 1.0, with ccm-demo"}, Errs: []string{""}, CommandsRun: []string{"dpkg-query", "apt-get"}},
		{Wants: []resources.Package{pkg("ccm-ma", "present"), pkg("ccm-demo-dep", "1.0")}, Caveats: []string{"version 1.0", "with ccm-demo"}, Errs: []string{"", ""},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache"}},
		{Wants: []resources.Package{pkg("mawk", "absent")}, Caveats: []string{""}, Errs: []string{""}, CommandsRun: []string{"dpkg-query"}},
		{Wants: []resources.Package{pkg("ccm-demo", "1.1"), pkg("nosuch", "present"), pkg("ccm-demo-unmet", "present"), pkg("ccm-demo-epoch", "7")},
			Caveats:     []string{"", "", "", ""},
			Errs:        []string{"", "apt is unable to locate package nosuch", "Depends: ccm-demo-nonexistent", "apt cannot find version 7 of ccm-demo-epoch, only 1:0.9-2+lab1, 1:0.9-1, 1:0.9~rc1-1, 1.5"},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache", "apt-get", "apt-get", "apt-get"}},
		// apt would install something else for these names.
		{Wants: []resources.Package{pkg("awk", "present"), pkg("ccm-demo", "present")}, Caveats: []string{"", "version 2.0"}, Errs: []string{"awk is a virtual package", ""},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache", "apt-cache", "apt-get"}},
		{Wants: []resources.Package{pkg("ccm.demo", "present")}, Caveats: []string{""}, Errs: []string{"unable to locate package ccm.demo"}, CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache"}},
	}, packages{}, packages{}.predict, func() (func(host.Cmd) (host.Result, error), func() []string) {
		m := newMachine()
		return m.Answer, func() []string { return m.asked }
	})
}

// TestBrings: a package has the list of other packages that are installed with it.
func TestBrings(t *testing.T) {
	for _, wants := range [][]resources.Package{
		{pkg("ccm-demo-dep", "present")},
		{pkg("ccm-demo-dep", "present"), pkg("ccm-demo", "present"), pkg("ccm-demo-epoch", "present")},
	} {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: newMachine().Answer})
		list := packages{}.predict(t.Context(), h.Planning(t.Context()), wants)
		require.Equal(t, []string{"ccm-demo"}, list[0].Installs)
		for _, x := range list[1:] {
			require.Empty(t, x.Installs)
		}
	}
	require.Equal(t, map[string][]string{"a": {"b", "<v>", "c", "d"}}, parseDepends(
		"a\n  PreDepends: b\n |Depends: <v>\n    c\n  Recommends: d\n  Suggests: e\n    f\n<v>\n"))
}

// TestRemovals: a package has the list of other packages that are removed with it, each once.
func TestRemovals(t *testing.T) {
	predict := func(wants ...resources.Package) []resource.Prediction {
		m := newMachine()
		for _, p := range []string{"ccm-demo", "ccm-demo-dep", "ccm-demo-epoch"} {
			m.with(p, entry{version: "1.0", status: "installed"})
		}
		m.with("ccm-held", entry{version: "1.0", status: "installed", want: "hold"}).with("ccm-local", entry{version: "1.0", status: "installed"})
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
		return packages{}.predict(t.Context(), h.Planning(t.Context()), wants)
	}
	list := predict(pkg("mawk", "absent"), pkg("ccm-demo-epoch", "absent"), pkg("ccm-demo", "absent"), pkg("ccm-demo-dep", "absent"), pkg("ccm-ma", "present"))
	require.Equal(t, []resource.Prediction{{}, {}, {Removes: []string{"ccm-demo-dep"}, Caveat: "removes ccm-demo-dep too"}, {}}, list[:4])
	require.Empty(t, list[4].Removes)
	require.True(t, predict(pkg("ccm-local", "absent"), pkg("ccm-ma", "present"))[0].Lost)
	require.False(t, predict(pkg("ccm-local", "absent"))[0].Lost, "nothing is installed that may need it")
	require.False(t, predict(pkg("ccm-demo-epoch", "absent"), pkg("ccm-ma", "present"))[0].Lost)
	list = predict(pkg("ccm-held", "absent"), pkg("ccm-demo", "absent"))
	require.ErrorContains(t, list[0].Err, "apt could not remove it: exit status 100: E: Held packages were changed")
	require.NoError(t, list[1].Err)
	require.Equal(t, []string{"ccm-demo-dep"}, list[1].Removes)
	list = predict(pkg("ccm-demo", "absent"), pkg("ccm-demo-dep:amd64", "present"))
	require.Equal(t, []string{"ccm-demo-dep", "ccm-demo-dep:amd64"}, list[0].Removes)
	list = predict(pkg("ccm-demo-dep", "absent"), pkg("ccm-demo", "absent"))
	require.Equal(t, []resource.Prediction{{}, {}}, list)
}

// TestDisplace: each of several packages has the list of packages that it displaces, and the last one those that only
// all of them displace.
func TestDisplace(t *testing.T) {
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		if slices.Contains(c.Argv, "nginx") {
			return ok("Remv apache2 [2.4]\n"), nil
		}
		return ok(""), nil
	}})
	install := []request{{name{"nginx", ""}, 0, "nginx"}, {name{"curl", ""}, 1, "curl"}}
	list := make([]resource.Prediction, 2)
	rest := displace(t.Context(), h.Planning(t.Context()), simulation{removes: []string{"apache2", "lynx"}}, make([]resources.Package, 2), install, list)
	require.Equal(t, []string{"lynx"}, rest)
	require.Equal(t, []resource.Prediction{{Removes: []string{"apache2"}, Caveat: "removes apache2"}, {Removes: []string{"lynx"}}}, list)
}

// TestRemovalTransaction parses output of apt 2.6 from a lab.
func TestRemovalTransaction(t *testing.T) {
	require.Equal(t, simulation{removes: []string{"ccm-demo-dep", "ccm-demo"}}, parseSimulation(preamble+
		"The following packages will be REMOVED:\n  ccm-demo ccm-demo-dep\n0 upgraded, 0 newly installed, 2 to remove and 0 not upgraded.\n"+
		"Remv ccm-demo-dep [1.0]\nRemv ccm-demo [2.0]\n"))
}

func TestTransaction(t *testing.T) {
	got := parseSimulation("Remv exim4-base [4.96-15] [bsd-mailx:amd64 ]\n" +
		"Inst bash [5.2.15-2+b8] (5.2.15-2+b13 Debian:12.15/oldstable [amd64])\n" +
		"Inst libc6:i386 (2.36-9 Debian:12.15/oldstable, Debian-Security:12 [i386])\nConf bash (5.2.15-2+b13 x [amd64])\n")
	require.Equal(t, simulation{
		installs: []install{{"bash", "5.2.15-2+b13", "amd64", []string{"Debian"}}, {"libc6:i386", "2.36-9", "i386", []string{"Debian", "Debian-Security"}}}, removes: []string{"exim4-base"},
	}, got)
	version, ok := got.version(name{"bash", "amd64"})
	require.True(t, ok)
	require.Equal(t, "5.2.15-2+b13", version)
	_, ok = got.version(name{"libc6", ""}) // apt would install another architecture than the machine's
	require.False(t, ok)
}

// TestKeepsDesired: an action removes no package that the site wants, but others.
func TestKeepsDesired(t *testing.T) {
	desired := resource.Desired{}
	for _, name := range []string{"ccm-demo", "ccm-rival", "ccm-demo-dep"} {
		desired[name] = &resource.Resource{ID: resource.ID{Type: "package", Name: name}, Pos: diag.Pos{File: "site.lua", Line: 7}}
	}
	for name, c := range map[string]struct {
		installed string
		want      resources.Package
		desired   resource.Desired
		err       string
	}{
		"no rival":          {"ccm-demo-epoch", pkg("ccm-rival", "present"), desired, ""},
		"rival":             {"ccm-demo", pkg("ccm-rival", "present"), desired, "would remove package#ccm-demo, which site.lua:7 declares (declare only one of them)"},
		"unwanted rival":    {"ccm-demo", pkg("ccm-rival", "present"), resource.Desired{"mawk": desired["ccm-demo"]}, ""},
		"nothing else":      {"ccm-demo", pkg("ccm-rival", "present"), nil, ""},
		"dependent":         {"ccm-demo,ccm-demo-dep", pkg("ccm-demo", "absent"), desired, "would remove package#ccm-demo-dep, which site.lua:7 declares"},
		"purged":            {"ccm-demo,ccm-demo-dep", pkg("ccm-demo", "purged"), desired, "would remove package#ccm-demo-dep, which site.lua:7 declares"},
		"unwanted":          {"ccm-demo,ccm-demo-dep", pkg("ccm-demo", "absent"), resource.Desired{"mawk": desired["ccm-demo"]}, ""},
		"with architecture": {"ccm-demo", pkg("ccm-rival", "present"), resource.Desired{"ccm-demo:amd64": desired["ccm-demo"]}, "would remove package#ccm-demo, "},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine()
			for p := range strings.SplitSeq(c.installed, ",") {
				m.with(p, entry{version: "1.0", status: "installed"})
			}
			h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
			ctx := resource.WithDesired(t.Context(), c.desired)
			act, done := packages{}.Install, func() bool { return m.installed("ccm-rival", "") != nil }
			if c.want.Ensure.IsAbsent() {
				act, done = packages{}.Uninstall, func() bool { return m.installed("ccm-demo", "") == nil }
			}
			err := act(ctx, h, c.want)
			require.Equal(t, c.err == "", done())
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
			for p := range strings.SplitSeq(c.installed, ",") {
				require.NotNil(t, m.installed(p, ""), p)
			}
		})
	}
}
