package pkg

import (
	"fmt"
	"testing"

	rpmversion "github.com/knqyf263/go-rpm-version"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "debian") }

func TestPackageSuite(t *testing.T) { pkgtooltest.Suite(t, packages, answer, false) }

// answer answers as pkg does, as far as its source and recorded outputs tell.
func answer(m *pkgtooltest.Machine, c host.Cmd) (host.Result, error) {
	argv, out := c.Argv, ""
	lines := func(names []string, line func(name string) string) host.Result {
		for _, name := range names {
			out += line(name)
		}
		if out == "" {
			return pkgtooltest.Failed(1, "", "")
		}
		return pkgtooltest.OK(out)
	}
	switch argv[1] {
	case "version":
		order := rpmversion.NewVersion(argv[3]).Compare(rpmversion.NewVersion(argv[4]))
		return pkgtooltest.OK(string("<=>"[order+1]) + "\n"), nil
	case "query":
		if argv[2] == "-e" {
			return lines(argv[5:], func(name string) string {
				if !m.Holds[name] {
					return ""
				}
				return name + "\n"
			}), nil
		}
		return lines(argv[3:], func(name string) string {
			if m.DB[name] == "" {
				return ""
			}
			return name + "\t" + m.DB[name] + "\tFreeBSD:13:amd64\thttps://example.org/\twhat it is for\n"
		}), nil
	case "rquery":
		return lines(argv[4:], func(name string) (s string) {
			for _, version := range m.Repo[name] {
				s += name + "\t" + version + "\n"
			}
			return s
		}), nil
	case "install":
		if argv[2] == "-n" {
			return pkgtooltest.Failed(1, "The following 1 package(s) will be affected (of 0 checked):\n\nNew packages to be INSTALLED:\n\tdemo: 2.0-1\n\nNumber of packages to be installed: 1\n", ""), nil
		}
		if spec := m.Install("-", argv[2:]); spec != "" {
			return pkgtooltest.Failed(70, "", "pkg: No packages available to install matching '"+spec+"' have been found in the repositories\n"), nil
		}
		return pkgtooltest.OK(""), nil
	case "delete":
		if argv[2] == "-n" {
			return pkgtooltest.OK("Installed packages to be REMOVED:\n\tdemo: 2.0-1\n"), nil
		}
		for _, name := range argv[3:] {
			delete(m.DB, name)
		}
		return pkgtooltest.OK(""), nil
	case "lock", "unlock":
		m.Holds[argv[3]] = argv[1] == "lock"
		return pkgtooltest.OK(""), nil
	}
	return host.Result{}, fmt.Errorf("command %q not found", c)
}

// Summaries of several versions of pkg, from their users and from its source.
func TestParseSummary(t *testing.T) {
	for out, want := range map[string]pkgtool.Simulation{
		"Updating FreeBSD repository catalogue...\nAll repositories are up to date.\nThe following 1 package(s) will be affected (of 0 checked):\n\n" +
			"New packages to be INSTALLED:\n\tdmg2img: 1.6.7 [FreeBSD]\n\tbzip: 1\n\nNumber of packages to be installed: 1\n": {Installs: []string{"dmg2img", "bzip"}},
		"Installed packages to be REMOVED:\n\tja-nkf-2.1.4,1\n\tp5-x-1.0 (depends on perl5)\n\nThe operation will free 1 MiB.\n": {Removes: []string{"ja-nkf", "p5-x"}},
		"Installed packages to be UPGRADED:\n\tpkg: 1.14.4 -> 1.18.4 [Avalon]\n\nNumber of packages to be upgraded: 1\n":         {},
		"The most recent versions of packages are already installed\n":                                                           {},
	} {
		require.Equal(t, want, parseSummary(out))
	}
}

// A status that cannot be read is an error, not absent.
func TestUnreadable(t *testing.T) {
	res := pkgtooltest.Failed(1, "", "pkg: sqlite error while executing SELECT: database disk image is malformed\n")
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return res, nil }})
	_, err := packages.Status(t.Context(), &h.View, pkgtooltest.Package("zsh", "present"))
	require.ErrorContains(t, err, "pkg query: exit status 1: pkg: sqlite error")
}
