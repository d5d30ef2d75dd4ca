package apt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// Many packages cost one question to dpkg, and one to apt if any is to be the
// latest; each gets the state that it would get alone.
func TestStatusAll(t *testing.T) {
	m := newMachine().with("ccm-demo", entry{version: "1.0", status: "installed"}).
		with("ccm-demo-epoch", entry{version: "1:0.9-2+lab1", status: "installed"}).
		with("ccm-w", entry{version: "1.0", arch: "i386", status: "installed"}).
		with("mawk", entry{version: "odd", arch: "amd64", status: "installed"})
	wants := []resources.Package{
		pkg("ccm-demo", "latest"), pkg("nosuch", "present"), pkg("ccm-demo", "1.1"), pkg("b a d", "present"),
		pkg("ccm-demo-epoch", "latest"), pkg("awk", "latest"), pkg("ccm-w", "latest"), pkg("mawk", "1.0"), pkg("mawk", "present"),
	}
	r := &hosttest.Runner{Answer: m.Answer}
	h, _ := hosttest.New(t, r)
	states, errs := packages{}.StatusAll(t.Context(), &h.View, wants)
	ran := r.Ran()
	require.Len(t, ran, 2)
	require.True(t, strings.HasSuffix(ran[0], " awk ccm-demo ccm-demo-epoch ccm-w mawk nosuch"), ran[0])
	require.Equal(t, "apt-cache policy ccm-demo ccm-demo-epoch ccm-w", ran[1])

	require.Equal(t, resources.PackageState{
		Metadata: resources.PackageMetadata{
			Name: "ccm-demo", Version: "1.0", Arch: "all", Provider: "apt",
			Summary: "ccm lab package ccm-demo", Description: "It has a longer\n\ndescription.",
		},
		Candidate: "2.0", Order: -1,
	}, states[0])
	require.Equal(t, -1, states[2].Order)
	require.Empty(t, states[2].Candidate)
	require.Equal(t, "1.0", states[6].Candidate)
	require.ErrorContains(t, errs[3], `got "b a d"`)
	require.ErrorContains(t, errs[7], `expected a Debian version such as 1:2.0-3, got "odd"`)
	for i, want := range wants {
		have, err := packages{}.Status(t.Context(), &h.View, want)
		require.Equal(t, states[i], have, want)
		require.Equal(t, errs[i], err, want)
	}

	before := len(r.Ran())
	_, errs = packages{}.StatusAll(t.Context(), &h.View, []resources.Package{pkg("~", "present")})
	require.Error(t, errs[0])
	require.Len(t, r.Ran(), before, "no question about no package")
}

// A status that cannot be read is an error, not absent.
func TestUnreadable(t *testing.T) {
	for _, x := range []struct {
		res host.Result
		err string
	}{
		{failed(2, "", "dpkg-query: error: parsing file '/var/lib/dpkg/status' near line 3:\n missing ':'\n"), "dpkg-query: exit status 2: dpkg-query: error: parsing file"},
		{failed(1, "", ""), "dpkg-query did not report zsh"},
		{ok("zsh 5.9 amd64\n"), `dpkg-query: expected a line about a package, got "zsh 5.9 amd64"`},
	} {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return x.res, nil }})
		_, err := packages{}.Status(t.Context(), &h.View, pkg("zsh", "present"))
		require.ErrorContains(t, err, x.err)
	}
	m := newMachine().with("ccm-demo", entry{version: "1.0", status: "installed"})
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		if c.Argv[0] == "apt-cache" {
			return failed(100, "", "E: The list of sources could not be read.\n"), nil
		}
		return m.Answer(c)
	}})
	_, err := packages{}.Status(t.Context(), &h.View, pkg("ccm-demo", "latest"))
	require.EqualError(t, err, "apt-cache policy: exit status 100: E: The list of sources could not be read.")
	_, err = packages{}.Status(t.Context(), &h.View, pkg("ccm-demo", "present"))
	require.NoError(t, err)
}
