package dnf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/rpm"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// Many packages cost one question to rpm, and one to dnf if the repositories
// matter for any; each gets the state that it would get alone.
func TestStatusAll(t *testing.T) {
	m := newMachine().with("ccm-demo-rpm-1.0", "ccm-demo-rpm-epoch-0.9-1.lab", "ccm-vi")
	m.repo["ccm-vi"] = nil
	wants := []resources.Package{
		pkg("ccm-demo-rpm", "latest"), pkg("nosuch", "latest"), pkg("ccm-demo-rpm.noarch", "1.0"), pkg("b:d", "present"),
		pkg("ccm-demo-rpm-epoch", "latest"), pkg("ccm-demo-rpm-epoch", "1.5"), pkg("ccm-vi", "latest"), pkg("ccm-demo-rpm", "a:1"),
	}
	r := &hosttest.Runner{Answer: m.Answer}
	h, _ := hosttest.New(t, r)
	states, errs := packages.StatusAll(t.Context(), &h.View, wants)
	ran := r.Ran()
	require.Len(t, ran, 2)
	require.True(t, strings.HasPrefix(ran[0], "rpm -q ccm-demo-rpm ccm-demo-rpm-epoch ccm-demo-rpm.noarch ccm-vi nosuch --queryformat"), ran[0])
	require.Equal(t, `dnf -q repoquery --queryformat '%{name} %{epoch} %{version} %{release} %{arch}\n' ccm-demo-rpm ccm-demo-rpm-epoch ccm-vi`, ran[1])

	require.Equal(t, resources.PackageState{
		Metadata: resources.PackageMetadata{
			Name: "ccm-demo-rpm-epoch", Version: "0.9-1.lab", Arch: "noarch", License: "MIT", Provider: "dnf",
			Summary: "ccm lab package ccm-demo-rpm-epoch", Description: "ccm lab package.\n\nIt is not installed.",
			Extension: resources.PackageExtension{Epoch: "1", Release: "1.lab"},
		},
		Candidate: "0.9-2.lab", Order: -1,
	}, states[4])
	require.Equal(t, 1, states[5].Order)
	require.Empty(t, states[6].Candidate, "no repository has it")
	require.ErrorContains(t, errs[3], `got "b:d"`)
	require.ErrorContains(t, errs[7], `got "a:1"`)
	for i, want := range wants {
		have, err := packages.Status(t.Context(), &h.View, want)
		require.Equal(t, states[i], have, want)
		require.Equal(t, errs[i], err, want)
	}
}

// A candidate of another epoch is shown with it: the rest may be the same.
func TestCandidateEpoch(t *testing.T) {
	m := newMachine().with("ccm-demo-rpm-1.0")
	m.repo["ccm-demo-rpm"] = []build{{name: "ccm-demo-rpm", epoch: "1", version: "1.0", release: "1.lab", arch: "noarch"}}
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
	want := pkg("ccm-demo-rpm", "latest")
	have, err := packages.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Equal(t, "ensure: 1.0-1.lab → 1:1.0-1.lab", want.Decide(have).String())
	_, err = perform(t, m, want)
	require.NoError(t, err)
}

// A status that cannot be read is an error, not absent.
func TestUnreadable(t *testing.T) {
	for _, x := range []struct {
		res host.Result
		err string
	}{
		{failed(1, "", ""), "no rpm package named zsh"},
		{ok("zsh 0 5.8 9.el9 x86_64\n"), `rpm -q: expected a line about a package, got "zsh 0 5.8 9.el9 x86_64"`},
		{ok("zsh 0 5.8 9.el9 x86_64\tMIT\t(none)\tx\nwords\n"), "rpm -q: unterminated description of zsh"},
		{failed(1, "package zsh is not installed\n", "warning: Generating 18 missing index(es), please wait...\nerror: cannot open Packages\n"), "cannot open Packages"},
	} {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return x.res, nil }})
		_, err := packages.Status(t.Context(), &h.View, pkg("zsh", "present"))
		require.ErrorContains(t, err, x.err)
	}
	m := newMachine().with("ccm-vi")
	for _, x := range []struct {
		res host.Result
		err string
	}{
		{failed(1, "", "Error: Failed to download metadata for repo 'ccm-lab'\n"), "dnf repoquery: exit status 1: Error: Failed to download metadata for repo 'ccm-lab'"},
		{ok("ccm-vi 0\n"), `dnf repoquery: expected a line about a package, got "ccm-vi 0\n"`},
	} {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			if c.Argv[0] == "dnf" {
				return x.res, nil
			}
			return m.Answer(c)
		}})
		_, err := packages.Status(t.Context(), &h.View, pkg("ccm-vi", "latest"))
		require.EqualError(t, err, x.err)
		_, err = packages.Status(t.Context(), &h.View, pkg("ccm-vi", "present"))
		require.NoError(t, err)
	}
}

// Dnf 4 ends each answer with an empty line, dnf 5 does not.
func TestParseOffers(t *testing.T) {
	want := rpm.Offers{
		"zsh":        {{EVR: rpm.EVR{Epoch: "0", Version: "5.8", Release: "9.el9"}, Arch: "x86_64"}, {EVR: rpm.EVR{Epoch: "1", Version: "5.9", Release: "1.el9"}, Arch: "x86_64"}},
		"zsh.x86_64": {{EVR: rpm.EVR{Epoch: "0", Version: "5.8", Release: "9.el9"}, Arch: "x86_64"}, {EVR: rpm.EVR{Epoch: "1", Version: "5.9", Release: "1.el9"}, Arch: "x86_64"}},
	}
	for _, sep := range []string{"\n\n", "\n"} {
		found := rpm.Offers{}
		require.NoError(t, parseOffers("zsh 0 5.8 9.el9 x86_64"+sep+"zsh 1 5.9 1.el9 x86_64"+sep, found))
		require.Equal(t, want, found)
	}
}

func FuzzParseOffers(f *testing.F) {
	f.Add("zsh 0 5.8 9.el9 x86_64\n\n")
	f.Fuzz(func(t *testing.T, out string) {
		found := rpm.Offers{}
		if parseOffers(out, found) == nil {
			for key, list := range found {
				require.NotEmpty(t, list, key)
			}
		}
	})
}

// A package locked by versionlock is on hold, whether the site says so or not. Without locks there is no further
// command.
func TestLocked(t *testing.T) {
	for list, held := range map[string]bool{"# Added lock\nccm-demo-rpm-0:1.0-1.lab.*\n": true, "\n# none\n": false} {
		m := newMachine().with("ccm-demo-rpm-1.0")
		r := &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			if c.String() == "dnf -q versionlock list" {
				return ok("ccm-demo-rpm-0:1.0-1.lab.*\n"), nil
			}
			return m.Answer(c)
		}}
		h, root := hosttest.New(t, r)
		file := filepath.Join(root, lockFiles[0])
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(list), 0o644))
		want := pkg("ccm-demo-rpm", "latest")
		have, err := packages.Status(t.Context(), &h.View, want)
		require.NoError(t, err)
		require.Equal(t, held, have.Held)
		require.Equal(t, held, slices.Contains(r.Ran(), "dnf -q versionlock list"))
		if held {
			require.EqualError(t, want.Decide(have).Err, "expected 2.0-1.lab, found 1.0-1.lab, which is on hold")
		}
	}
}
