package apt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A failure has apt's own last words, and nothing else is installed instead.
func TestFailures(t *testing.T) {
	for _, x := range []struct{ name, ensure, err string }{
		{"ccm-demo-unmet", "present", "exit status 100: ccm-demo-unmet : Depends: ccm-demo-nonexistent but it is not installable\nE: Unable to correct problems, you have held broken packages."},
		{"ccm-demo-broken", "present", "exit status 100: ccm-demo-broken: postinst fails\ndpkg: error processing package ccm-demo-broken (--configure):\n" +
			"installed ccm-demo-broken package post-installation script subprocess returned error exit status 1\n" +
			"Errors were encountered while processing:\nccm-demo-broken\nE: Sub-process /usr/bin/dpkg returned an error code (1)"},
		{"nosuch", "present", "apt is unable to locate package nosuch (if it is new in a repository, run apt-get update first)"},
		{"nosuch", "1.0", "apt is unable to locate package nosuch"},
		{"ccm~demo", "present", "apt is unable to locate package ccm~demo"},
		{"ccm.demo", "present", "apt is unable to locate package ccm.demo"},
		{"ccm-w+", "latest", "apt is unable to locate package ccm-w+"},
		{"ccm-demo:i686", "present", "apt is unable"},
		{"awk", "present", "awk is a virtual package (use one that provides it: mawk)"},
		{"ccm-virt", "latest", "ccm-virt is a virtual package (use one that provides it: ccm-ma, ccm-w2)"},
		{"ccm-demo-", "present", `expected the name of a Debian package, got "ccm-demo-": apt would read the trailing hyphen as a removal`},
		{"~i", "absent", `expected the name of a Debian package such as zsh or libc6:i386, got "~i"`},
		{"a:b:c", "present", `expected the name of a Debian package such as zsh or libc6:i386, got "a:b:c"`},
		{"libc6:any", "present", `expected an architecture such as amd64, got "any"`},
		{"ccm-demo-epoch", "0.9-1", "E: Version '0.9-1' for 'ccm-demo-epoch' was not found\n(apt has 1:0.9-2+lab1, 1:0.9-1, 1:0.9~rc1-1, 1.5 of it)"},
	} {
		m := newMachine()
		if x.name == "ccm-demo:i686" { // of which there is none, but apt and dpkg speak of others
			m.repo["ccm-demo"] = []release{{version: "1.0", arch: "amd64"}}
		}
		_, err := perform(t, m, pkg(x.name, x.ensure))
		require.ErrorContains(t, err, x.err)
		for name, list := range m.db {
			for _, e := range list {
				require.NotEqual(t, "installed", e.status, "%s was installed for %s", name, x.name)
			}
		}
	}
	m := newMachine()
	m.locked = 601
	_, err := perform(t, m, pkg("ccm-demo", "present"))
	require.ErrorContains(t, err, "It is held by process 489 (perl)...\nE: Unable to acquire the dpkg frontend lock")
}

// A half-configured package is repaired by installing it.
func TestRepair(t *testing.T) {
	m := newMachine()
	_, err := perform(t, m, pkg("ccm-demo-broken", "present"))
	require.Error(t, err)
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
	have, err := packages{}.Status(t.Context(), &h.View, pkg("ccm-demo-broken", "present"))
	require.NoError(t, err)
	require.Equal(t, resources.PackageState{Problem: "half-configured", Residue: true}, have)
	require.Equal(t, "absent", have.CurrentEnsure())
	m.repo["ccm-demo-broken"][0].broken = false
	_, err = perform(t, m, pkg("ccm-demo-broken", "present"))
	require.NoError(t, err)
}

// A package that is broken for long fails each command of apt, but not what the command was for.
func TestOthersFail(t *testing.T) {
	m := newMachine()
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		res, err := m.Answer(c)
		if c.Argv[0] == "apt-get" && res.Code == 0 {
			res.Code, res.Stderr = 100, []byte(othersFailed+"\n other\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n")
		}
		return res, err
	}})
	require.NoError(t, packages{}.Install(t.Context(), h, pkg("ccm-demo", "1.0")))
	require.NoError(t, packages{}.Uninstall(t.Context(), h, pkg("ccm-demo", "absent")))
	require.ErrorContains(t, packages{}.Install(t.Context(), h, pkg("ccm-demo-broken", "present")), "ccm-demo-broken: postinst fails")
}
