package dnf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/rpm"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
)

// Output of dnf 4.14 about a transaction that was killed, and about a complete one.
const (
	killedHistory = `Transaction ID : 9
Begin time     : Sun Nov 22 16:10:14 2026
Begin rpmdb    : 1ee04bf2cc957d34367c80be6799388dee9ee25dd70d79cc62c4c38bc4e06a1a
End time       : Thu Jan  1 00:00:00 1970 (-1795363814 seconds)
End rpmdb      :  **
User           : System <unset>
Return-Code    : Failure: 1
Command Line   : install -y ccm-demo-rpm-2.0
Packages Altered:
 ** Install  ccm-demo-rpm-epoch-1:0.9-2.lab.noarch @ccm-lab
 ** Upgrade  ccm-demo-rpm-2.0-1.lab.noarch         @ccm-lab
 ** Upgraded ccm-demo-rpm-1.0-1.lab.noarch         @@System
 ** Removed  ccm-vi-1.0-1.lab.noarch               @@System
`
	endedHistory = `Transaction ID : 10
End time       : Sun Nov 22 16:10:24 2026 (0 seconds)
End rpmdb      : 84d9c2d629dc8b73e36ab89a06caa137619e11509d492880f000c7701233f7ef **
Return-Code    : Failure: 1
Packages Altered:
 ** Install ccm-demo-rpm-2.0-1.lab.noarch @ccm-lab
`
)

func TestParseHistory(t *testing.T) {
	require.Equal(t, map[string]string{
		"ccm-demo-rpm-epoch-1:0.9-2.lab.noarch": "Install", "ccm-demo-rpm-2.0-1.lab.noarch": "Upgrade",
		"ccm-demo-rpm-1.0-1.lab.noarch": "Upgraded", "ccm-vi-1.0-1.lab.noarch": "Removed",
	}, parseHistory(killedHistory))
	require.Empty(t, parseHistory(endedHistory))
	require.Empty(t, parseHistory(""))
	require.Equal(t, "ccm-demo-rpm-epoch", rpm.NameOf("ccm-demo-rpm-epoch-1:0.9-2.lab.noarch"))
	require.Empty(t, rpm.NameOf("x"))
}

// A package in the middle of which dnf was killed is half-installed, and reinstalled with
// the others of the transaction.
func TestInterrupted(t *testing.T) {
	const both = "dnf reinstall -y ccm-demo-rpm-2.0-1.lab.noarch ccm-demo-rpm-epoch-1:0.9-2.lab.noarch"
	for name, x := range map[string]struct {
		history         string
		installed       []string
		atWork, missing bool
		name, want      string
		does            string // the decision
		commands        []string
		err             string
	}{
		"unpacked": {killedHistory, []string{"ccm-demo-rpm-2.0", "ccm-demo-rpm-epoch-1:0.9-2.lab"}, false, false, "ccm-demo-rpm", "2.0",
			"ensure: half-installed → 2.0", []string{both, "dnf install -y ccm-demo-rpm-2.0"}, ""},
		"twice there": {killedHistory, []string{"ccm-demo-rpm-1.0", "ccm-demo-rpm-2.0"}, false, false, "ccm-demo-rpm.noarch", "latest",
			"ensure: half-installed → latest", []string{"dnf reinstall -y ccm-demo-rpm-2.0-1.lab.noarch", "dnf install -y ccm-demo-rpm.noarch"}, ""},
		"twice there after a boot": {"", []string{"ccm-demo-rpm-1.0", "ccm-demo-rpm-2.0"}, false, false, "ccm-demo-rpm", "present",
			"ensure: half-installed → present", []string{"dnf reinstall -y ccm-demo-rpm-2.0-1.lab.noarch", "dnf install -y ccm-demo-rpm"}, ""},
		"not begun": {killedHistory, []string{"ccm-demo-rpm-epoch-1:0.9-2.lab"}, false, false, "ccm-demo-rpm", "2.0",
			"ensure: absent → 2.0", []string{"dnf reinstall -y ccm-demo-rpm-epoch-1:0.9-2.lab.noarch", "dnf install -y ccm-demo-rpm-2.0"}, ""},
		"to be removed": {killedHistory, []string{"ccm-demo-rpm-2.0"}, false, false, "ccm-demo-rpm", "absent",
			"ensure: 2.0-1.lab → absent", []string{"dnf remove -y ccm-demo-rpm"}, ""},
		"was being removed": {killedHistory, []string{"ccm-vi"}, false, false, "ccm-vi", "present",
			"ensure: half-installed → present", []string{"dnf reinstall -y ccm-vi-1.0-1.lab.noarch", "dnf install -y ccm-vi"}, ""},
		"another was being removed": {killedHistory, []string{"ccm-vi"}, false, false, "ccm-demo-rpm", "present",
			"ensure: absent → present", []string{"dnf install -y ccm-demo-rpm"}, ""},
		"not of the transaction":   {killedHistory, []string{"ccm-demo-rpm-broken"}, false, false, "ccm-demo-rpm-broken", "present", "", nil, ""},
		"a transaction that ended": {endedHistory, []string{"ccm-demo-rpm-2.0"}, false, false, "ccm-demo-rpm", "2.0", "", nil, ""},
		"another dnf is at work":   {killedHistory, []string{"ccm-demo-rpm-1.0", "ccm-demo-rpm-2.0"}, true, false, "ccm-demo-rpm", "2.0", "", nil, ""},
		"no repository has it": {killedHistory, []string{"ccm-demo-rpm-2.0"}, false, true, "ccm-demo-rpm", "2.0",
			"ensure: half-installed → 2.0", []string{"dnf reinstall -y ccm-demo-rpm-2.0-1.lab.noarch", "dnf install -y ccm-demo-rpm-2.0"},
			"dnf reinstall -y ccm-demo-rpm-2.0-1.lab.noarch: exit status 1: Installed package ccm-demo-rpm-2.0-1.lab.noarch (from ccm-lab) not available.\nError: No packages marked for reinstall.\n" +
				"dnf install -y ccm-demo-rpm-2.0: dnf reports nothing to do: Package ccm-demo-rpm-2.0-1.lab.noarch is already installed."},
		"no repository has one of two": {killedHistory, []string{"ccm-demo-rpm-2.0", "ccm-demo-rpm-epoch-1:0.9-2.lab"}, false, true, "ccm-demo-rpm", "2.0",
			"ensure: half-installed → 2.0", []string{both, "dnf install -y ccm-demo-rpm-2.0"},
			"dnf cannot reinstall ccm-demo-rpm-2.0-1.lab.noarch, which it left unfinished when it was interrupted: Installed package ccm-demo-rpm-2.0-1.lab.noarch (from ccm-lab) not available."},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine().with(x.installed...)
			var h *host.Host
			var root string
			var ran []string
			h, root = hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
				lock := filepath.Join(root, lockFile)
				switch argv := c.Argv; {
				case c.String() == "dnf history info last":
					return ok(x.history), nil
				case c.String() == "dnf -q check --duplicates":
					if list := m.db["ccm-demo-rpm"]; len(list) > 1 {
						return failed(1, list[0].nevra()+" is a duplicate with "+list[1].nevra()+"\n", "Error: Check discovered 1 problem(s)\n"), nil
					}
					return ok(""), nil
				case argv[0] == "dnf" && argv[1] == "reinstall":
					ran = append(ran, strings.ReplaceAll(c.String(), `\`, ""))
					if x.missing {
						said := "Installed package " + argv[3] + " (from ccm-lab) not available.\n"
						if len(argv) == 4 {
							return failed(1, checked+said, "Error: No packages marked for reinstall.\n"), nil
						}
						_ = os.Remove(lock)
						return ok(checked + said + "Running transaction\n\nReinstalled:\n  " + argv[4] + "   \n\nComplete!\n"), nil
					}
					if list := m.db["ccm-demo-rpm"]; len(list) > 1 {
						m.db["ccm-demo-rpm"] = list[1:]
					}
					_ = os.Remove(lock)
					return ok("Running transaction\n\nReinstalled:\n  " + strings.Join(argv[3:], "   ") + "   \n\nComplete!\n"), nil
				case argv[0] == "dnf" && argv[2] == "-y":
					ran = append(ran, c.String())
					res, err := m.Answer(c)
					if !didNothing(res) {
						_ = os.Remove(lock)
					}
					return res, err
				}
				return m.Answer(c)
			}})
			if x.history != "" {
				require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(lockFile)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(root, lockFile), []byte("4711"), 0o644))
			}
			if x.atWork {
				require.NoError(t, os.MkdirAll(filepath.Join(root, "proc/4711"), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(root, "proc/4711/stat"), nil, 0o444))
			}
			want := pkg(x.name, x.want)
			have, err := packages.Status(t.Context(), &h.View, want)
			require.NoError(t, err)
			d := want.Decide(have)
			require.Equal(t, x.does, d.String())
			for _, a := range d.Actions {
				err = want.Perform(t.Context(), h, packages, a)
			}
			require.Equal(t, x.commands, ran)
			if x.err != "" {
				require.ErrorContains(t, err, x.err)
				return
			}
			require.NoError(t, err)
			have, err = packages.Status(t.Context(), &h.View, want)
			require.NoError(t, err)
			require.True(t, want.Decide(have).Stable())
		})
	}
}

// A plan does not count the lock among what other packages may bring: all that follow
// would be unknown.
func TestLockIsNoLook(t *testing.T) {
	h, root := hosttest.New(t, nil)
	for _, name := range []string{lockFile, "/proc/4711/stat"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("4711"), 0o644))
	}
	looks := new(overlay.Looks)
	_, atWork, err := interrupted(t.Context(), h.Planning(t.Context()).Recording(looks))
	require.NoError(t, err)
	require.True(t, atWork)
	require.Empty(t, looks.List())
}
