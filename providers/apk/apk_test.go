package apk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rpmversion "github.com/knqyf263/go-rpm-version"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "debian") }

func TestPackageSuite(t *testing.T) { pkgtooltest.Suite(t, packages, answer, false, write) }

// write writes the database of installed packages.
func write(m *pkgtooltest.Machine) {
	text := ""
	for name, version := range m.DB {
		text += "C:Q1pQpcW2WQmk=\nP:" + name + "\nV:" + version + "\nA:x86_64\nT:what it is for: this\nU:https://example.org/\nL:MIT\nF:usr\nR:x\n\n"
	}
	path := filepath.Join(m.Root, database)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		panic(err)
	}
}

// answer answers as apk-tools 2 does, as far as others have recorded it.
func answer(m *pkgtooltest.Machine, c host.Cmd) (host.Result, error) {
	argv := c.Argv
	switch {
	case argv[1] == "version":
		order := rpmversion.NewVersion(argv[3]).Compare(rpmversion.NewVersion(argv[4]))
		return pkgtooltest.OK(string("<=>"[order+1]) + "\n"), nil
	case argv[1] == "policy":
		out := ""
		for _, name := range argv[2:] {
			out += name + " policy:\n"
			for _, version := range m.Repo[name] {
				out += "  " + version + ":\n    https://dl-cdn.alpinelinux.org/alpine/v3.17/main\n"
			}
		}
		return pkgtooltest.OK(out), nil
	case slices.Contains(argv, "--simulate"):
		verb, out := map[string]string{"add": "Installing", "del": "Purging"}[argv[3]], ""
		for i, spec := range pkgtooltest.WordsBehind(argv, 4) {
			name, _, _ := strings.Cut(spec, "=")
			out += fmt.Sprintf("(%d/2) %s %s (1.0-1)\n", i+1, verb, name)
		}
		return pkgtooltest.OK(out + "OK: 8 MiB in 15 packages\n"), nil
	case argv[3] == "add":
		if spec := m.Install("=", argv[4:]); spec != "" {
			return pkgtooltest.Failed(1, "", "ERROR: unable to select packages:\n  "+spec+" (no such package):\n    required by: world["+spec+"]\n"), nil
		}
	case argv[3] == "del":
		for _, name := range argv[4:] {
			delete(m.DB, name)
		}
	default:
		return host.Result{}, fmt.Errorf("command %q not found", c)
	}
	write(m)
	return pkgtooltest.OK("OK: 8 MiB in 15 packages\n"), nil
}

// An output from a bug report: only packages in repositories without a tag are available.
func TestParsePolicy(t *testing.T) {
	require.Equal(t, map[string][]string{"libx11-dev": {"1.7.1-r0"}, "bubblewrap": {"0.4.1-r2"}}, parsePolicy(
		"libx11-dev policy:\n  1.7.1-r0:\n    lib/apk/db/installed\n    https://dl-cdn.alpinelinux.org/alpine/v3.13/main\n"+
			"  1.7.2-r0:\n    @edge https://dl-cdn.alpinelinux.org/alpine/edge/main\n"+
			"bubblewrap policy:\n  0.4.1-r2:\n    lib/apk/db/installed\n    https://dl-cdn.alpinelinux.org/alpine/v3.13/main\n"+
			"    @edge https://dl-cdn.alpinelinux.org/alpine/v3.13/main\n    https://dl-cdn.alpinelinux.org/alpine/edge/main\n"+
			"capnproto policy:\n  0.8.0-r1:\n    @edgecommunity https://dl-cdn.alpinelinux.org/alpine/edge/community\n"))
}

// Required packages stay, which apk reports without an error.
func TestSimulateRemoval(t *testing.T) {
	res := pkgtooltest.OK("World updated, but the following packages are not removed due to:\n  musl: busybox\n\nOK: 8 MiB in 15 packages\n")
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return res, nil }})
	_, err := simulate(t.Context(), &h.View, "remove", pkgtooltest.Package("musl", "absent"), []string{"musl"})
	require.ErrorContains(t, err, "apk did not remove it: World updated, but the following packages are not removed due to:\nmusl: busybox")

	// A run does not try it: apk would forget that it was wanted, keep it, and report success.
	h, _ = hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		require.True(t, slices.Contains(c.Argv, "--simulate"), c.String())
		return res, nil
	}})
	require.ErrorContains(t, packages.Uninstall(t.Context(), h, pkgtooltest.Package("musl", "absent")), "apk did not remove it: World updated")

	res = pkgtooltest.OK("(1/2) Purging curl (7.88.1-r1)\n(2/2) Purging nghttp2-libs (1.51.0-r0)\nOK: 7 MiB in 14 packages\n")
	got, err := simulate(t.Context(), &h.View, "remove", resources.Package{}, []string{"curl"})
	require.NoError(t, err)
	require.Equal(t, pkgtool.Simulation{Removes: []string{"curl", "nghttp2-libs"}}, got)
}

func FuzzParsePolicy(f *testing.F) {
	f.Add("a policy:\n  1-r0:\n    https://x/y\n")
	f.Fuzz(func(t *testing.T, out string) {
		for name, versions := range parsePolicy(out) {
			require.NotEmpty(t, versions, name)
		}
	})
}
