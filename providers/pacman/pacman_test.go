package pacman

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rpmversion "github.com/knqyf263/go-rpm-version"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "debian") }

func TestPackageSuite(t *testing.T) { pkgtooltest.Suite(t, packages, answer, false) }

// answer answers as pacman 6.0 did in a lab.
func answer(m *pkgtooltest.Machine, c host.Cmd) (host.Result, error) {
	argv := c.Argv
	describe := func(versions func(name string) []string) host.Result {
		out, stderr, code := "", "", 0
		for _, name := range argv[2:] {
			if len(versions(name)) == 0 {
				stderr, code = stderr+"error: package '"+name+"' was not found\n", 1
			}
			for _, version := range versions(name) {
				out += "Name            : " + name + "\nVersion         : " + version + "\nDescription     : what it is for : whom\n" +
					"Architecture    : any\nURL             : None\nLicenses        : MIT\nOptional Deps   : a: for b\n                  c : for d\n\n"
			}
		}
		return host.Result{Stdout: []byte(out), Stderr: []byte(stderr), Code: code}
	}
	switch {
	case argv[0] == "vercmp":
		return pkgtooltest.OK(fmt.Sprintln(rpmversion.NewVersion(argv[1]).Compare(rpmversion.NewVersion(argv[2])))), nil
	case argv[1] == "-Qi":
		return describe(func(name string) []string {
			if m.DB[name] == "" {
				return nil
			}
			return []string{m.DB[name]}
		}), nil
	case argv[1] == "-Si":
		return describe(func(name string) []string {
			list := slices.Clone(m.Repo[name])
			slices.Reverse(list) // the first repository has the newest
			return list
		}), nil
	case slices.Contains(argv, "--print"):
		for _, spec := range argv[5:] {
			if strings.HasPrefix(spec, "unmet") {
				return pkgtooltest.Failed(1, ":: unable to satisfy dependency 'nosuch' required by unmet\n",
					"error: failed to prepare transaction (could not satisfy dependencies)\n"), nil
			}
		}
		return pkgtooltest.OK("base\n" + strings.Join(argv[5:], "\n") + "\n"), nil
	case argv[1] == "-S":
		if spec := m.Install("=", argv[3:]); spec != "" {
			return pkgtooltest.Failed(1, "", "error: target not found: "+spec+"\n"), nil
		}
		return pkgtooltest.OK("installing...\n"), nil
	case argv[1] == "-R" || argv[1] == "-Rn":
		for _, name := range argv[3:] {
			delete(m.DB, name)
		}
		return pkgtooltest.OK("removing...\n"), nil
	}
	return host.Result{}, fmt.Errorf("command %q not found", c)
}

// What the plan tells of packages that come, go and cannot come.
func TestPredict(t *testing.T) {
	m := &pkgtooltest.Machine{Repo: map[string][]string{"demo": {"1.0-1", "2.0-1"}, "unmet": {"1.0-1"}}, DB: map[string]string{"gone": "1.0-1"}}
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) { return answer(m, c) }})
	wants := []resources.Package{
		pkgtooltest.Package("demo", "present"), pkgtooltest.Package("unmet", "present"),
		pkgtooltest.Package("nosuch", "present"), pkgtooltest.Package("gone", "absent"),
	}
	list := packages.PredictAlike(t.Context(), h.Planning(t.Context()), wants)
	require.NoError(t, list[0].Err)
	require.Equal(t, "version 2.0-1", list[0].Caveat)
	require.EqualError(t, list[1].Err, "pacman could not install it: exit status 1: error: failed to prepare transaction (could not satisfy dependencies)\n"+
		":: unable to satisfy dependency 'nosuch' required by unmet")
	require.Empty(t, list[2].Err, "a refresh of the index may bring it")
	require.Contains(t, list[2].Caveat, "not in the package index, which is missing")
	require.True(t, list[3].Lost)
}

// Pacman gives its copy of an index the time of the server's. When it was read is the time of the directory.
func TestIndexIsAsOldAsItsDirectory(t *testing.T) {
	h, root := hosttest.New(t, nil)
	tool := &pkgtool.Tool{Index: tool.Index, IndexDir: tool.IndexDir} // which has read no index
	dir := filepath.Join(root, "var/lib/pacman/sync")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	want := resources.Package{Name: "demo", Ensure: "present", Refresh: host.Duration(24 * time.Hour)}
	require.Equal(t, "missing", tool.OlderIndex(t.Context(), &h.View, want))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "core.db"), nil, 0o600))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "core.db"), time.Time{}, h.Now().AddDate(0, 0, -9)))
	require.NoError(t, os.Chtimes(dir, time.Time{}, h.Now()))
	require.Empty(t, tool.OlderIndex(t.Context(), &h.View, want))
	require.NoError(t, os.Chtimes(dir, time.Time{}, h.Now().AddDate(0, 0, -3)))
	require.Equal(t, "3 days old", tool.OlderIndex(t.Context(), &h.View, want))
}

// A status that cannot be read is an error, not absent; a package provided by another one is absent.
func TestUnreadable(t *testing.T) {
	for _, x := range []struct {
		res host.Result
		err string
	}{
		{pkgtooltest.Failed(255, "", "error: failed to initialize alpm library:\n(root: /, dbpath: /var/lib/pacman/)\n"), "pacman -Qi: exit status 255: error: failed to initialize alpm library:"},
		{pkgtooltest.OK("Name            : gawk\nVersion         : 5.2-1\n\n"), ""},
	} {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return x.res, nil }})
		have, err := packages.Status(t.Context(), &h.View, pkgtooltest.Package("awk", "present"))
		if x.err == "" {
			require.NoError(t, err)
			require.False(t, have.Installed())
			continue
		}
		require.ErrorContains(t, err, x.err)
	}
	h, _ := hosttest.New(t, nil)
	held := pkgtooltest.Package("zsh", "present")
	held.Hold = new(true)
	_, err := packages.Status(t.Context(), &h.View, held)
	require.EqualError(t, err, "pacman cannot hold packages with a command (add it to IgnorePkg in /etc/pacman.conf)")
}

// TestFailedScript: pacman exits 0 when the script of a package fails. The lines are what
// pacman 6.0 writes then.
func TestFailedScript(t *testing.T) {
	out := host.Result{
		Stdout: []byte("loading packages...\nresolving dependencies...\nlooking for conflicting packages...\n\nPackages (2) fine-1-1  broken-1-1\n\n\n" +
			":: Proceed with installation? [Y/n] \nchecking keyring...\nchecking package integrity...\nloading package files...\nchecking for file conflicts...\ninstalling fine...\ninstalling broken...\n/tmp/alpm/.INSTALL: line 2: nosuch: command not found\n" +
			":: Running post-transaction hooks...\n(1/1) Arming ConditionNeedsUpdate...\n"),
		Stderr: []byte("error: command failed to execute correctly\n"),
	}
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return out, nil }})
	err := packages.Uninstall(t.Context(), h, pkgtooltest.Package("broken", "absent"))
	require.EqualError(t, err, "pacman -R --noconfirm broken: a package script failed: error: command failed to execute correctly\n"+
		"installing broken...\n/tmp/alpm/.INSTALL: line 2: nosuch: command not found")
	var done *resource.DoneError
	require.ErrorAs(t, err, &done)
	out.Stderr = []byte("warning: directory permissions differ on /srv/\n")
	require.NoError(t, packages.Uninstall(t.Context(), h, pkgtooltest.Package("broken", "absent")))
}

func FuzzParse(f *testing.F) {
	f.Add("Name            : gawk\nVersion         : 5.2-1\n\n")
	f.Fuzz(func(t *testing.T, out string) {
		for _, e := range parse(out) {
			require.NotNil(t, e)
		}
	})
}
