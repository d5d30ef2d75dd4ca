package apt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestForesee: one question does for all packages that apt can install. Only where it
// cannot, it is asked about each.
func TestForesee(t *testing.T) {
	pkgtooltest.Foresee(t, []pkgtooltest.Foresight{
		{Wants: []resources.Package{pkg("ccm-demo", "present"), pkg("ccm-demo-epoch", "latest")}, Caveats: []string{"version 2.0", "version 1:0.9-2+lab1"}, Errs: []string{"", ""},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache"}},
		{Wants: []resources.Package{pkg("ccm-demo-dep", "present")}, Caveats: []string{"version 1.0, with ccm-demo"}, Errs: []string{""}, CommandsRun: []string{"dpkg-query", "apt-get"}},
		{Wants: []resources.Package{pkg("ccm-ma", "present"), pkg("ccm-demo-dep", "1.0")}, Caveats: []string{"version 1.0", "the 2 packages come with ccm-demo"}, Errs: []string{"", ""},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache"}},
		{Wants: []resources.Package{pkg("mawk", "absent")}, Caveats: []string{""}, Errs: []string{""}, CommandsRun: []string{"dpkg-query"}},
		{Wants: []resources.Package{pkg("ccm-demo", "1.1"), pkg("nosuch", "present"), pkg("ccm-demo-unmet", "present"), pkg("ccm-demo-epoch", "7")},
			Caveats:     []string{"", "", "", ""},
			Errs:        []string{"", "apt is unable to locate package nosuch", "Depends: ccm-demo-nonexistent", "apt has no version 7 of ccm-demo-epoch, but 1:0.9-2+lab1, 1:0.9-1, 1:0.9~rc1-1, 1.5"},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache", "apt-get", "apt-get", "apt-get"}},
		// apt would install something else for these names.
		{Wants: []resources.Package{pkg("awk", "present"), pkg("ccm-demo", "present")}, Caveats: []string{"", "version 2.0"}, Errs: []string{"awk is a virtual package", ""},
			CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache", "apt-cache", "apt-get"}},
		{Wants: []resources.Package{pkg("ccm.demo", "present")}, Caveats: []string{""}, Errs: []string{"unable to locate package ccm.demo"}, CommandsRun: []string{"dpkg-query", "apt-get", "apt-cache"}},
	}, packages{}, packages{}.foresee, func() (func(host.Cmd) (host.Result, error), func() []string) {
		m := newMachine()
		return m.Answer, func() []string { return m.asked }
	})
}

// TestBrings: a package is told of the others that come with it.
func TestBrings(t *testing.T) {
	for _, wants := range [][]resources.Package{
		{pkg("ccm-demo-dep", "present")},
		{pkg("ccm-demo-dep", "present"), pkg("ccm-demo", "present"), pkg("ccm-demo-epoch", "present")},
	} {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: newMachine().Answer})
		list := packages{}.foresee(t.Context(), h.Planning(t.Context()), wants)
		require.Equal(t, []string{"ccm-demo"}, list[0].Installs)
		for _, x := range list[1:] {
			require.Empty(t, x.Installs)
		}
	}
	require.Equal(t, map[string][]string{"a": {"b", "<v>", "c", "d"}}, parseDepends(
		"a\n  PreDepends: b\n |Depends: <v>\n    c\n  Recommends: d\n  Suggests: e\n    f\n<v>\n"))
}

func TestTransaction(t *testing.T) {
	got := parseTransaction("Remv exim4-base [4.96-15] [bsd-mailx:amd64 ]\n" +
		"Inst bash [5.2.15-2+b8] (5.2.15-2+b13 Debian:12.15/oldstable [amd64])\n" +
		"Inst libc6:i386 (2.36-9 Debian:12.15/oldstable, Debian-Security:12 [i386])\nConf bash (5.2.15-2+b13 x [amd64])\n")
	require.Equal(t, transaction{
		installs: []install{{"bash", "5.2.15-2+b13", "amd64"}, {"libc6:i386", "2.36-9", "i386"}}, removes: []string{"exim4-base"},
	}, got)
	version, ok := got.version(name{"bash", "amd64"})
	require.True(t, ok)
	require.Equal(t, "5.2.15-2+b13", version)
	_, ok = got.version(name{"libc6", ""}) // apt would install another architecture than the machine's
	require.False(t, ok)
}
