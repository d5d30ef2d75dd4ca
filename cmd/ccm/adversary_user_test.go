package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// userAmongUsers manages an account whose home directory belongs to the adversary: it is made, gets keys, is moved
// and removed.
const userAmongUsers = `
	local user, authorized_key, known_host = require "std.user", require "std.authorized_key", require "std.known_host"
	local key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPM8dYdjBcJZzFO4y6Nn3FAbfDEQ1B3L8FhFJPYI4pB"
	local kind = arg[1]
	if kind == "absent" then
		user { "ccm-adversary", ensure = "absent", manage_home = true, timeout = "30s" }
	elseif kind == "moved" then
		-- usermod goes on for as long as new files come to the home.
		user { "ccm-adversary", home = arg[2], manage_home = true, shell = "/bin/false", timeout = "30s" }
		authorized_key { "moved", user = "ccm-adversary", key = key }
	else
		user { "ccm-adversary", uid = UID, home = "HOME", manage_home = true, ssh_key = "ed25519" }
		authorized_key { "made", user = "ccm-adversary", key = key, comment = kind, options = { "restrict" } }
		known_host { "host", key = key, path = "HOME/.ssh/known_hosts" }
	end`

// ownUsers gives a command its own /etc, with a skeleton of the files that the adversary exchanges, and its own
// directories for other files of useradd and similar tools.
const ownUsers = ownEtc + `
for d in /var/log /var/mail /run; do mount -t tmpfs own "$d"; done
mkdir -p /etc/skel/dir/dir /etc/skel/.ssh
for f in f dir/f dir/dir/f .ssh/authorized_keys .ssh/known_hosts secret dir/secret; do echo of the skeleton > "/etc/skel/$f"; done
for i in 1 2 3 4 5 6 7 8 9; do mkdir "/etc/skel/dir/d$i"; for f in f authorized_keys secret; do echo of the skeleton > "/etc/skel/dir/d$i/$f"; done; done
runs-of-ccm; :`

// runsOfCCM runs ccm with the arguments of each line of standard input (JSON), and prints the status and the output.
// So 2,000 runs do not start a process each.
func runsOfCCM() {
	lines, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var args []string
		if lines.Decode(&args) != nil {
			return
		}
		var text bytes.Buffer
		status := run(context.Background(), newEnv(strings.NewReader(""), &text, &text, hosttest.Clock{}), args)
		if answers.Encode(answer{status, text.String()}) != nil {
			return
		}
	}
}

type answer struct {
	Status int
	Text   string
}

// TestAdversaryOfUsers: root makes, moves and removes an account and its keys while a user exchanges files in its
// home directory. No file of others is changed or read. Root has its own processes and accounts, because usermod and
// userdel refuse to work while the user has processes. The long form has 20 worlds of 100 runs, each of which can be
// run alone.
func TestAdversaryOfUsers(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	tries := tally.Of(t, "a user swaps files, links, pipes and directories in his home while root makes his account with an ssh key, gives it keys that may log in and known hosts, moves its home, and removes both",
		"files and directories of root beside it keep content, mode, owner and entries, and nothing of them can be read")
	worlds := tally.Times(1, 20)
	runs := tally.Times(12, 2000) / worlds
	for n := range worlds {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			attackAccounts(t, tries, runs)
		})
	}
}

// attackAccounts lets root manage an account for some runs, in a world whose home directory belongs to the adversary.
func attackAccounts(t *testing.T, tries *tally.Counter, runs int) {
	a := hosttest.NewAdversary(t, ".ssh", "authorized_keys", "known_hosts", "id_ed25519", "f", "dir")
	base := filepath.Dir(a.Home)
	far, err := os.MkdirTemp("/var/tmp", "ccm-adversary-") // another file system, so that a move copies
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(far)) })
	require.NoError(t, os.Chmod(far, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(far, "moved"), filepath.Join(base, "moved")))
	file := siteFile(t, "lua", strings.NewReplacer("HOME", a.Home, "UID", strconv.Itoa(int(a.UID))).Replace(userAmongUsers))
	state, err := os.MkdirTemp(base, "state-")
	require.NoError(t, err)

	root := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-ec", ownUsers)
	root.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/usr/bin:/sbin:/bin", "NO_COLOR=1"}
	in, err := root.StdinPipe()
	require.NoError(t, err)
	out, err := root.StdoutPipe()
	require.NoError(t, err)
	root.Stderr = os.Stderr
	require.NoError(t, root.Start())
	t.Cleanup(func() { _ = in.Close(); _ = root.Wait() })
	lines, answers := json.NewEncoder(in), json.NewDecoder(out)

	secret, done := strings.TrimSpace(hosttest.Secret), map[string]int{}
	for n := range runs {
		kind := []string{"made", "again", "moved", "absent"}[n%4]
		moved := []string{filepath.Join(far, "moved"), filepath.Join(base, "near")}[n/4%2]
		if home, err := os.Stat(a.Home); err == nil && home.IsDir() {
			a.Wait()
		}
		require.NoError(t, lines.Encode([]string{"run", "--diff", "full", "--backup-size", "1MiB", "--state-dir", state, file, kind, moved}))
		var got answer
		require.NoError(t, answers.Decode(&got))
		tries.Add(1)
		if n%100 == 99 {
			t.Logf("%d of %d runs", n+1, runs)
		}
		require.Contains(t, []int{cli.ExitOK, cli.ExitFailed}, got.Status, got.Text)
		require.NotContains(t, got.Text, secret, "root was led to read a file of root")
		if got.Status == cli.ExitOK {
			done[kind]++
		}
		if os.Getenv("CCM_TEST_SHOW") != "" {
			t.Logf("%s: %s", kind, got.Text)
		}
		if n%4 == 3 {
			_ = os.Rename(moved, moved+strconv.Itoa(n)) // it may not have been removed
		}
	}
	swaps := a.Lost(t)
	t.Logf("%d runs, %v of them did what was wanted, %d swaps", runs, done, swaps)
	homes, err := filepath.Glob(filepath.Join(base, "near*"))
	require.NoError(t, err)
	for _, home := range append(homes, far) { // after the adversary has stopped, who could mislead this check
		require.False(t, hosttest.HoldsSecret(home), "%s was given what only root may read", home)
	}
}
