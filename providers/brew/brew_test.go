package brew

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "debian") }

func TestPackageSuite(t *testing.T) { pkgtooltest.Suite(t, packages, answer, true) }

// answer answers as brew does, as far as its documentation and recorded outputs tell.
func answer(m *pkgtooltest.Machine, c host.Cmd) (host.Result, error) {
	argv := c.Argv
	line := strings.Join(argv[1:], " ")
	switch {
	case strings.HasPrefix(line, "list --formula --pinned"):
		out := ""
		for name, held := range m.Holds {
			if held {
				out += name + "\n"
			}
		}
		return pkgtooltest.OK(out), nil
	case strings.HasPrefix(line, "list --formula --versions "):
		out, code := "", 0
		for _, name := range argv[4:] {
			if m.DB[name] == "" {
				code = 1
				continue
			}
			out += name + " 0.1 " + m.DB[name] + "\n"
		}
		return pkgtooltest.Failed(code, out, ""), nil
	case strings.HasPrefix(line, "info --json=v2 --formula "):
		var list []string
		for _, name := range argv[4:] {
			versions := m.Repo[name]
			if len(versions) == 0 {
				return pkgtooltest.Failed(1, "", "Error: No available formula with the name \""+name+"\".\n"), nil
			}
			list = append(list, fmt.Sprintf(`{"name": %q, "full_name": %[1]q, "desc": "x", "license": "MIT", "versions": {"stable": %q, "head": null}, "revision": 0}`, name, versions[0]))
		}
		return pkgtooltest.OK(`{"formulae": [` + strings.Join(list, ",") + `], "casks": []}`), nil
	case slices.Contains(argv, "--dry-run"):
		return pkgtooltest.OK("==> Would install 1 formula:\n" + strings.Join(pkgtooltest.WordsBehind(argv, 2), " ") + "\n==> Would install 2 dependencies for it:\nreadline sqlite\n"), nil
	case strings.HasPrefix(line, "uses --installed "):
		return pkgtooltest.OK(""), nil
	case argv[1] == "install":
		if spec := m.Install("=", argv[3:]); spec != "" {
			return pkgtooltest.Failed(1, "", "Error: No available formula with the name \""+spec+"\".\n"), nil
		}
		return pkgtooltest.OK(""), nil
	case argv[1] == "uninstall":
		delete(m.DB, argv[3])
		return pkgtooltest.OK(""), nil
	case argv[1] == "pin" || argv[1] == "unpin":
		m.Holds[argv[2]] = argv[1] == "pin"
		return pkgtooltest.OK(""), nil
	}
	return host.Result{}, fmt.Errorf("command %q not found", c)
}

// One name that brew does not know does not hide the others, and an older formula is not had.
func TestPredict(t *testing.T) {
	m := &pkgtooltest.Machine{Repo: map[string][]string{"demo": {"2.0"}}, DB: map[string]string{}}
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) { return answer(m, c) }})
	list := packages.PredictAlike(t.Context(), h.Planning(t.Context()), []resources.Package{
		pkgtooltest.Package("demo", "present"), pkgtooltest.Package("nosuch", "present"), pkgtooltest.Package("demo", "1.0"),
	})
	require.Equal(t, "version 2.0, with readline, sqlite", list[0].Caveat)
	require.EqualError(t, list[1].Err, "no repository provides package nosuch")
	require.EqualError(t, list[2].Err, "no repository provides version 1.0 of demo, only 2.0")
}

// What another formula needs stays.
func TestSimulateRemoval(t *testing.T) {
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return pkgtooltest.OK("git\nwget\n"), nil }})
	_, err := simulate(t.Context(), &h.View, "remove", resources.Package{}, []string{"pcre2"})
	require.EqualError(t, err, "brew cannot remove it, because it is required by git, wget")
	_, err = simulate(t.Context(), &h.View, "remove", resources.Package{}, []string{"pcre2", "git", "wget"})
	require.NoError(t, err)
}

// A revision is written after an underscore.
func TestVersion(t *testing.T) {
	f := formula{Revision: 1}
	f.Versions.Stable = "1.2"
	require.Equal(t, "1.2_1", f.version())
	order, err := packages.Compare(t.Context(), nil, "1.2_1", "1.2")
	require.NoError(t, err)
	require.Equal(t, 1, order)
}

// A version is part of the name of some formulae.
func TestVersionedFormula(t *testing.T) {
	require.NoError(t, packages.CheckName("python@3.12"))
	require.Error(t, packages.CheckName("a:b"))
}
