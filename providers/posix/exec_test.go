package posix

import (
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

func TestExecs(t *testing.T) {
	nothing := func(*testing.T, string) host.Runner { return nil }
	created := func(t *testing.T, root string) host.Runner {
		require.NoError(t, os.WriteFile(filepath.Join(root, "made"), nil, 0o600))
		return nil
	}
	ok := resources.Exec{Name: "true", Returns: []int{0}}
	with := func(f func(*resources.Exec)) resources.Exec {
		e := ok
		f(&e)
		return e
	}
	suite := resourcetest.Suite[resources.Exec, resources.ExecState, resources.ExecProvider]{
		Type:   resources.ExecType,
		Starts: map[string]func(*testing.T, string) host.Runner{"nothing": nothing, "created": created},
		Wants: map[string]resources.Exec{
			"plain":        ok,
			"creates":      with(func(e *resources.Exec) { e.Creates = "/made" }),
			"onlyif":       with(func(e *resources.Exec) { e.OnlyIf = "true" }),
			"onlyif-no":    with(func(e *resources.Exec) { e.OnlyIf = "false" }),
			"unless":       with(func(e *resources.Exec) { e.Unless = "true" }),
			"unless-no":    with(func(e *resources.Exec) { e.Unless = "false" }),
			"refreshonly":  with(func(e *resources.Exec) { e.RefreshOnly = true }),
			"both":         with(func(e *resources.Exec) { e.OnlyIf, e.Unless = "true", "false" }),
			"fails":        with(func(e *resources.Exec) { e.Name = "false" }),
			"returns":      with(func(e *resources.Exec) { e.Name, e.Returns = "false", []int{0, 1} }),
			"nowhere":      with(func(e *resources.Exec) { e.Name = "ccm-no-such-command" }),
			"guard-absent": with(func(e *resources.Exec) { e.OnlyIf = "ccm-no-such-command" }),
			"removes":      with(func(e *resources.Exec) { e.Removes = "/made" }),
			"check":        with(func(e *resources.Exec) { e.Check = "true" }),
			"check-no":     with(func(e *resources.Exec) { e.Check = "false" }),
			"check-absent": with(func(e *resources.Exec) { e.Check = "ccm-no-such-command" }),
			"umask":        with(func(e *resources.Exec) { e.Umask = new(resources.ModeOf(0o27)) }),
			"moot-guard":   with(func(e *resources.Exec) { e.Creates, e.OnlyIf = "/made", "ccm-no-such-command" }),
		},
		Fails: map[string]string{
			"nothing/fails": "exit code 1, expected 0", "created/fails": "exit code 1, expected 0",
			"nothing/nowhere": `command "ccm-no-such-command" not found`, "created/nowhere": "not found",
			"nothing/guard-absent": "onlyif: ", "created/guard-absent": "onlyif: ",
			"nothing/moot-guard":   "onlyif: ",
			"nothing/check-absent": "check: ", "created/check-absent": "check: ",
			"nothing/check-no": "check still does not exit 0: false", "created/check-no": "check still does not exit 0",
		},
		// The decision table of the exec document, and precedence as in the document
		// on guards: creates, then guards, then refreshonly.
		Phrases: map[string][]string{
			"nothing/plain":       {"executed"}, // refresh_only: false, no creates | Execute
			"nothing/creates":     {"executed"},
			"created/creates":     {}, // creates file exists | Skip
			"nothing/onlyif":      {"executed"},
			"nothing/onlyif-no":   {},
			"nothing/unless":      {},
			"nothing/unless-no":   {"executed"},
			"nothing/both":        {"executed"},
			"nothing/check":       {},
			"nothing/removes":     {}, // as creates, the other way round
			"created/removes":     {"executed"},
			"nothing/refreshonly": {}, // refresh_only: true, no trigger | Skip
			"created/moot-guard":  {},
		},
	}
	suite.Provider = execs{split: words}
	t.Run("posix", suite.Run)
	suite.Provider = execs{split: shell}
	// A shell says itself that it does not know a command, with exit code 127.
	suite.Fails = map[string]string{
		"nothing/fails": "exit code 1, expected 0", "created/fails": "exit code 1, expected 0",
		"nothing/nowhere": "exit code 127, expected 0", "created/nowhere": "ccm-no-such-command",
		"nothing/check-no": "check still does not exit 0", "created/check-no": "check still does not exit 0",
		"nothing/check-absent": "check still does not exit 0", "created/check-absent": "check still does not exit 0",
	}
	t.Run("shell", suite.Run)
}

// The table of command parsing of the posix provider.
func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"echo hello world":   {"echo", "hello", "world"},
		"echo 'hello world'": {"echo", "hello world"},
		`echo "hello world"`: {"echo", "hello world"},
		`echo hello\ world`:  {"echo", "hello world"},
		`echo "it's a test"`: {"echo", "it's a test"},
		"/bin/echo $USER":    {"/bin/echo", "$USER"},
	} {
		argv, err := words(line)
		require.NoError(t, err)
		require.Equal(t, want, argv)
	}
	_, err := words("echo 'x")
	require.ErrorContains(t, err, "unterminated single-quoted string")
	_, err = words("")
	require.EqualError(t, err, "no command specified")
	_, err = shell(" ")
	require.EqualError(t, err, "no command to execute")
}

func run(t *testing.T, p execs, want resources.Exec) (string, error) {
	t.Helper()
	var log strings.Builder
	h := host.New(host.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	res, err := p.Execute(t.Context(), h, want)
	return string(res.Stdout) + log.String(), err
}

func TestEnvironmentPathAndCwd(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hello"), []byte("#!/bin/sh\necho $GREETING $(pwd) $PATH\n"), 0o755))
	out, err := run(t, execs{split: words}, resources.Exec{Name: "hello", Path: dir + ":/bin:/usr/bin", Environment: []string{"GREETING=good day"}, Cwd: dir})
	require.NoError(t, err)
	require.Equal(t, "good day "+dir+" "+dir+":/bin:/usr/bin\n", out)
}

// TestLogin: a command runs as a user, with the environment of a login. Only root can try another user.
func TestLogin(t *testing.T) {
	who, err := user.Current()
	require.NoError(t, err)
	if os.Geteuid() == 0 {
		who, err = user.Lookup("nobody")
		require.NoError(t, err)
	}
	ids, err := who.GroupIds()
	require.NoError(t, err)
	out, err := run(t, execs{split: shell}, resources.Exec{
		Name: "id -u; id -g; id -G; echo $HOME $USER $LOGNAME $EXTRA; umask", User: who.Username, Umask: new(resources.ModeOf(0o27)), Environment: []string{"EXTRA=more"},
	})
	require.NoError(t, err)
	lines := strings.Split(out, "\n")
	require.Equal(t, who.Uid, lines[0])
	require.Equal(t, who.Gid, lines[1])
	require.ElementsMatch(t, ids, strings.Fields(lines[2]))
	require.Equal(t, fmt.Sprintf("%s %s %s more", who.HomeDir, who.Username, who.Username), lines[3])
	require.Equal(t, "0027", lines[4])
	_, err = run(t, execs{split: shell}, resources.Exec{Name: "id", User: "ccm-no-such-user"})
	require.ErrorContains(t, err, `no such user "ccm-no-such-user"`)
	if os.Geteuid() == 0 {
		const nobody = "4294900000" // the number of no account
		_, err = run(t, execs{split: shell}, resources.Exec{Name: "id", User: nobody})
		require.ErrorContains(t, err, "no user with uid 4294900000, so the group of the command is unknown")
		out, err = run(t, execs{split: shell}, resources.Exec{Name: "id -u; id -g; id -G", User: nobody, Group: "12"})
		require.NoError(t, err)
		require.Equal(t, nobody+"\n12\n12\n", out)
	}
	if os.Geteuid() != 0 {
		_, err = run(t, execs{split: shell}, resources.Exec{Name: "id", User: "root"})
		require.ErrorContains(t, err, "only root can run a command as root")
	}
}

func TestStandardInputIsClosed(t *testing.T) {
	out, err := run(t, execs{split: words}, resources.Exec{Name: "cat"})
	require.NoError(t, err)
	require.Empty(t, out)
}

func TestShellFeatures(t *testing.T) {
	out, err := run(t, execs{split: shell}, resources.Exec{Name: "cd /tmp && echo a b | tr a-z A-Z"})
	require.NoError(t, err)
	require.Equal(t, "A B\n", out)
	_, err = run(t, execs{split: words}, resources.Exec{Name: "echo a | cat"})
	require.EqualError(t, err, `| requires a shell, but "echo a | cat" runs without one`)
}

func TestLogOutput(t *testing.T) {
	out, err := run(t, execs{split: shell}, resources.Exec{Name: "echo one; echo two >&2", LogOutput: true})
	require.NoError(t, err)
	require.Contains(t, out, "msg=one")
	require.Contains(t, out, "msg=two")
}

// TestTimeoutKillsTheGroup starts a child that ignores SIGTERM and would write
// a file; neither outlives the timeout.
func TestTimeoutKillsTheGroup(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "pid")
	var text []byte
	for limit := 200 * time.Millisecond; len(text) == 0; limit *= 4 { // until the child was there
		require.Less(t, limit, 5*time.Minute)
		_, err := run(t, execs{split: shell}, resources.Exec{
			Name:    "trap '' TERM; (trap '' TERM; sleep 100000) & echo $! > " + mark + "; wait",
			Timeout: host.Duration(limit),
		})
		require.ErrorIs(t, err, host.ErrTimeout)
		require.ErrorContains(t, err, "timed out after "+limit.String())
		text, _ = os.ReadFile(mark)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, time.Minute, 10*time.Millisecond, "the child lives")
}

func TestDaemonDoesNotHoldUp(t *testing.T) {
	t.Parallel()
	out, err := run(t, execs{split: shell}, resources.Exec{Name: "sleep 30 & echo started"})
	require.NoError(t, err)
	require.Equal(t, "started\n", out)
}

func TestGuardsTimeOut(t *testing.T) {
	t.Parallel()
	h, _ := hosttest.New(t, nil)
	_, err := execs{split: words}.Status(t.Context(), &h.View, resources.Exec{Name: "true", Unless: "sleep 60", Timeout: host.Duration(50 * time.Millisecond)})
	require.ErrorContains(t, err, "unless: ")
	require.ErrorIs(t, err, host.ErrTimeout)
}
