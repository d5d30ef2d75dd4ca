package apt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

func start(pkg string, e entry) func(*testing.T, string) host.Runner {
	return func(*testing.T, string) host.Runner {
		m := newMachine()
		if e.status != "" {
			m.with(pkg, e)
		}
		return &hosttest.Runner{Answer: m.Answer}
	}
}

var pkg = pkgtooltest.Package

// Every wish from every state that dpkg has for a package.
func TestPackageSuite(t *testing.T) {
	const p = "ccm-demo"
	const unavailable = "E: Version '9' for 'ccm-demo' was not found\n(apt has 2.0, 1.1, 1.0 of it)"
	resourcetest.Suite[resources.Package, resources.PackageState, resources.PackageProvider]{
		Type: resources.PackageType, Provider: packages{},
		Starts: map[string]func(*testing.T, string) host.Runner{
			"absent":          start(p, entry{}),
			"config-files":    start(p, entry{version: "1.1", status: "config-files", want: "deinstall", edited: true}),
			"half-installed":  start(p, entry{version: "1.1", status: "half-installed"}),
			"unpacked":        start(p, entry{version: "1.1", status: "unpacked", edited: true}),
			"half-configured": start(p, entry{version: "2.0", status: "half-configured"}),
			"triggers":        start(p, entry{version: "2.0", status: "triggers-pending"}),
			"oldest":          start(p, entry{version: "1.0", status: "installed", edited: true}),
			"middle":          start(p, entry{version: "1.1", status: "installed", edited: true}),
			"newest":          start(p, entry{version: "2.0", status: "installed"}),
			"held":            start(p, entry{version: "1.1", status: "installed", want: "hold"}),
			"strange":         start(p, entry{version: "1.1", status: "half-eaten"}),
		},
		Wants: map[string]resources.Package{
			"present": pkg(p, "present"), "absent": pkg(p, "absent"), "latest": pkg(p, "latest"),
			"1.0": pkg(p, "1.0"), "1.1": pkg(p, "1.1"), "2.0": pkg(p, "2.0"), "9": pkg(p, "9"),
		},
		Fails: map[string]string{
			"absent/9": unavailable, "config-files/9": unavailable, "half-installed/9": unavailable, "unpacked/9": unavailable,
			"half-configured/9": unavailable, "triggers/9": unavailable, "oldest/9": unavailable, "middle/9": unavailable, "newest/9": unavailable,
			"held/absent": "on hold", "held/latest": "expected 2.0, found 1.1, which is on hold", "held/1.0": "on hold", "held/2.0": "on hold", "held/9": "on hold",
			"strange/present": `unknown dpkg status of ccm-demo: "half-eaten"`, "strange/absent": "half-eaten", "strange/latest": "half-eaten",
			"strange/1.0": "half-eaten", "strange/1.1": "half-eaten", "strange/2.0": "half-eaten", "strange/9": "half-eaten",
		},
		Phrases: map[string][]string{
			"absent/present": {"installed"}, "absent/absent": {}, "absent/latest": {"installed latest"}, "absent/1.1": {"installed version 1.1"},
			"config-files/present": {"installed"}, "config-files/absent": {},
			"half-installed/present": {"installed"}, "unpacked/2.0": {"installed version 2.0"}, "half-configured/absent": {"uninstalled"}, "half-installed/absent": {"uninstalled"}, "unpacked/absent": {"uninstalled"}, "triggers/absent": {"uninstalled"},
			"half-configured/latest": {"installed latest"}, "triggers/present": {"installed"},
			"oldest/present": {}, "oldest/absent": {"uninstalled"}, "oldest/latest": {"upgraded to latest"}, "oldest/1.0": {}, "oldest/2.0": {"upgraded to 2.0"},
			"newest/latest": {}, "newest/2.0": {}, "newest/1.1": {"downgraded to 1.1"}, "middle/1.0": {"downgraded to 1.0"}, "middle/2.0": {"upgraded to 2.0"},
			"held/present": {}, "held/1.1": {},
		},
	}.Run(t)
}

func TestEpochSuite(t *testing.T) {
	const p = "ccm-demo-epoch"
	wants := map[string]resources.Package{}
	starts := map[string]func(*testing.T, string) host.Runner{"absent": start(p, entry{})}
	for _, v := range []string{"1.5", "1:0.9~rc1-1", "1:0.9-1", "1:0.9-2+lab1"} {
		wants[v] = pkg(p, v)
		starts[v] = start(p, entry{version: v, status: "installed"})
	}
	resourcetest.Suite[resources.Package, resources.PackageState, resources.PackageProvider]{
		Type: resources.PackageType, Provider: packages{}, Starts: starts, Wants: wants,
		Phrases: map[string][]string{
			"1.5/1:0.9~rc1-1":      {"upgraded to 1:0.9~rc1-1"},
			"1:0.9~rc1-1/1:0.9-1":  {"upgraded to 1:0.9-1"},
			"1:0.9-2+lab1/1:0.9-1": {"downgraded to 1:0.9-1"},
			"1:0.9-1/1.5":          {"downgraded to 1.5"},
			"1.5/1.5":              {},
		},
	}.Run(t)
}

// perform brings a package to its wish and returns the error, and what ran.
func perform(t *testing.T, m *machine, want resources.Package) ([]string, error) {
	t.Helper()
	r := &hosttest.Runner{Answer: m.Answer}
	h, _ := hosttest.New(t, r)
	have, err := packages{}.Status(t.Context(), &h.View, want)
	if err != nil {
		return r.Ran(), err
	}
	d := want.Decide(have)
	for _, a := range d.Actions {
		if err := want.Perform(t.Context(), h, packages{}, a); err != nil {
			return r.Ran(), err
		}
	}
	now, err := packages{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, want.Decide(now).Stable(), "%v: %v", want, now)
	return r.Ran(), d.Err
}

// The commands of the apt document, and that apt waits for its lock.
func TestCommands(t *testing.T) {
	const install = "apt-get install -y -q -o DPkg::Options::=--force-confold -o DPkg::Lock::Timeout=600 "
	for _, x := range []struct {
		have, wish, command string
	}{
		{"", "present", install + "ccm-demo"},
		{"", "latest", install + "ccm-demo=2.0"},
		{"1.0", "latest", install + "ccm-demo=2.0"},
		{"", "1.0", install + "--allow-downgrades ccm-demo=1.0"},
		{"1.0", "2.0", install + "--allow-downgrades ccm-demo=2.0"},
		{"2.0", "1.0", install + "--allow-downgrades ccm-demo=1.0"},
		{"2.0", "absent", "apt-get -q -y -o DPkg::Lock::Timeout=600 remove ccm-demo"},
	} {
		m := newMachine()
		m.locked = 599
		if x.have != "" {
			m.with("ccm-demo", entry{version: x.have, status: "installed", edited: true})
		}
		ran, err := perform(t, m, pkg("ccm-demo", x.wish))
		require.NoError(t, err, x.wish)
		require.Contains(t, ran, x.command)
		require.True(t, strings.HasPrefix(ran[0], "dpkg-query -W '-f=${Package} ${Version} ${Architecture} ${db:Status-Status} "), ran[0])
		for _, env := range m.env {
			require.Equal(t, []string{"DEBIAN_FRONTEND=noninteractive", "APT_LISTBUGS_FRONTEND=none", "APT_LISTCHANGES_FRONTEND=none"}, env)
		}
	}
}

// A name without an architecture means the package wherever it is installed.
func TestArchitectures(t *testing.T) {
	both := func() *machine {
		return newMachine().with("ccm-ma", entry{version: "1.0", arch: "amd64", status: "installed", same: true}).
			with("ccm-ma", entry{version: "1.0", arch: "i386", status: "installed", same: true})
	}
	foreign := func() *machine {
		return newMachine().with("ccm-ma", entry{version: "1.0", arch: "i386", status: "installed", same: true})
	}
	for _, x := range []struct {
		m          *machine
		name, wish string
		last       string // the last command that changed something, "" if none
	}{
		{both(), "ccm-ma", "absent", "remove ccm-ma:amd64 ccm-ma:i386"},
		{both(), "ccm-ma:i386", "absent", "remove ccm-ma:i386"},
		{foreign(), "ccm-ma", "absent", "remove ccm-ma:i386"},
		{foreign(), "ccm-ma", "latest", ""},
		{foreign(), "ccm-ma:i386", "latest", ""},
		{foreign(), "ccm-ma:amd64", "absent", ""},
		{foreign(), "ccm-ma:amd64", "present", " ccm-ma:amd64"},
		{newMachine(), "ccm-ma:i386", "latest", " ccm-ma:i386=1.0"},
		{newMachine(), "ccm-w", "latest", " ccm-w=1.0"},
		{newMachine().with("ccm-demo", entry{version: "1.0", status: "installed"}), "ccm-demo:amd64", "1.0", ""},
	} {
		ran, err := perform(t, x.m, pkg(x.name, x.wish))
		require.NoError(t, err, "%s %s", x.name, x.wish)
		last := ""
		for _, c := range ran {
			if strings.HasPrefix(c, "apt-get") {
				last = c
			}
		}
		if x.last == "" {
			require.Empty(t, last, "%s %s", x.name, x.wish)
			continue
		}
		require.True(t, strings.HasSuffix(last, x.last), "%s %s: %s", x.name, x.wish, last)
	}
}

// TestUninstallUnfinished: a package is removed from every state in which dpkg may have left it.
func TestUninstallUnfinished(t *testing.T) {
	for _, status := range append([]string{installed}, unfinished...) {
		m := newMachine().with("ccm-demo", entry{version: "1.0", status: status})
		ran, err := perform(t, m, pkg("ccm-demo", "absent"))
		require.NoError(t, err)
		want := "apt-get -q -y -o DPkg::Lock::Timeout=600 remove ccm-demo"
		if status == "half-installed" {
			want = "apt-get -q -y -o DPkg::Lock::Timeout=600 -o DPkg::Options::=--force-remove-reinstreq remove ccm-demo"
		}
		require.Contains(t, ran, want, status)
	}
}
