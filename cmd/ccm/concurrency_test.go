package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/test/tally"
)

// A shell is a directory with a root and a state directory, in which ccm runs as separate processes.
type shell struct {
	t   *testing.T
	dir string
	env []string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "root"), 0o755))
	s.env = append(os.Environ(), "CCM_STATE_DIR="+filepath.Join(s.dir, "state"), "HOME="+s.dir, "NO_COLOR=1")
	return s
}

// A processResult is the result of a process.
type processResult struct {
	out, err string
	code     int
}

func (s *shell) start(args ...string) (cmd *exec.Cmd, wait func() processResult) {
	s.t.Helper()
	cmd = exec.Command("realccm", args...)
	var out, errOut bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &out, &errOut
	require.NoError(s.t, cmd.Start())
	return cmd, func() processResult {
		err := cmd.Wait()
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			require.NoError(s.t, err)
		}
		return processResult{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
	}
}

func (s *shell) run(args ...string) processResult {
	s.t.Helper()
	_, wait := s.start(args...)
	return wait()
}

// ok runs ccm, which must succeed, and returns its output.
func (s *shell) ok(args ...string) string {
	s.t.Helper()
	d := s.run(args...)
	require.Zero(s.t, d.code, "%q: %s%s", args, d.out, d.err)
	return d.out
}

func (s *shell) write(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
}

func (s *shell) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	require.NoError(s.t, err)
	return string(text)
}

// waitFor waits until a file exists.
func (s *shell) waitFor(name string) {
	s.t.Helper()
	for deadline := time.Now().Add(longEnough); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			return
		}
		require.True(s.t, time.Now().Before(deadline), "%s does not appear", name)
	}
}

func jsonLines[T any](t *testing.T, text string) (list []T) {
	t.Helper()
	for line := range strings.Lines(text) {
		var x T
		require.NoError(t, json.Unmarshal([]byte(line), &x), line)
		list = append(list, x)
	}
	return list
}

// TestFiftyAtOnce: fifty processes converge resources in one session and one state directory at the same time. Each
// does its work once, and no outcome, backup or refresh is lost.
func TestFiftyAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts fifty processes: make test-all")
	}
	tries := tally.Of(t, "50 processes of `ccm ensure` at once, in one session and one state directory, 10 of them for one file",
		"each change is made once, the session and the history know of all, what was overwritten can be had back, ten subscribers are refreshed once each")
	t.Parallel()
	s := newShell(t)
	owner, group := strconv.Itoa(os.Geteuid()), strconv.Itoa(os.Getegid())
	s.ok("session", "new", "--directory", filepath.Join(s.dir, "session"))
	s.env = append(s.env, "CCM_SESSION_STORE="+filepath.Join(s.dir, "session"))
	const files, same = 40, 10
	at := func(i int) string { return fmt.Sprintf("/f%02d", i) }
	for i := range files {
		s.write("root"+at(i), fmt.Sprintf("old %d\n", i))
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	codes := make(map[int]int)
	tries.Add(files + same)
	for i := range files + same {
		all.Go(func() {
			name := at(min(i, files)) // several processes manage the same file
			d := s.run("ensure", "file", name, "--content", "new\n", "--owner", owner, "--group", group, "--mode", "0644", "--root", "root", "--lock-timeout", "10m")
			mu.Lock()
			defer mu.Unlock()
			codes[d.code]++
			if d.code != 0 {
				t.Log(d.err)
			}
		})
	}
	all.Wait()
	require.Equal(t, map[int]int{0: files + same}, codes)

	// The session has all outcomes.
	events := jsonLines[report.Event](t, s.ok("session", "report", "--output", "json"))
	sum := events[len(events)-1]
	events = events[:len(events)-1]
	require.Equal(t, report.SummaryProtocol, sum.Protocol)
	changed := make(map[string]int)
	for _, e := range events {
		require.Contains(t, []string{"changed", "stable"}, e.Outcome, e.Name)
		if e.Changed {
			changed[e.Name]++
		}
	}
	require.Len(t, events, files+same)
	require.Len(t, changed, files+1, "each file was changed")
	for name, n := range changed {
		require.Equal(t, 1, n, "%s was changed once", name)
	}

	// So has the history, and all replaced contents can be restored.
	past := jsonLines[state.HistoryEntry](t, s.ok("history", "--limit", "0", "--output", "json"))
	require.Len(t, past, files+same)
	require.Empty(t, s.ok("history", "--pending"))
	restored := 0
	for i, e := range past {
		if i%4 == 0 && e.Files > 0 {
			s.ok("undo", "-q", e.ID)
			restored++
		}
	}
	old := 0
	for i := range files {
		if s.read("root"+at(i)) == fmt.Sprintf("old %d\n", i) {
			old++
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "root", at(files))); err != nil {
		old++ // the file did not exist
	}
	require.Equal(t, restored, old)

	// Ten processes subscribe to all of them, and each is refreshed once.
	args := []string{"ensure", "exec", "", "--refreshonly", "--provider", "shell", "--lock-timeout", "10m"}
	for i := range files {
		args = append(args, "--subscribe", "file#"+at(i))
	}
	for range 2 {
		for i := range 10 {
			all.Go(func() {
				own := append([]string(nil), args...)
				own[2] = fmt.Sprintf("echo %d >> %s", i, filepath.Join(s.dir, "log"))
				d := s.run(own...)
				mu.Lock()
				defer mu.Unlock()
				require.Zero(t, d.code, d.err)
			})
		}
		all.Wait()
	}
	require.Equal(t, 10, strings.Count(s.read("log"), "\n"))
	entries, err := os.ReadDir(filepath.Join(s.dir, "state"))
	require.NoError(t, err)
	for _, e := range entries {
		require.False(t, strings.HasPrefix(e.Name(), ".new-"), e.Name())
		require.NotEqual(t, "broken", e.Name())
	}
}

// TestTwoRunsAtOnce: one of two runs with a state directory gets the lock. The other names the holder, or waits for
// it if it may.
func TestTwoRunsAtOnce(t *testing.T) {
	long(t)
	tally.Of(t, "two runs at once, then five that wait, then one after a killed run",
		"one gets the lock, the other names its pid, command and start; who waits goes on; the lock of a killed run is free").Add(8)
	t.Parallel()
	s := newShell(t)
	s.write("slow.lua", fmt.Sprintf(`exec { "touch begun; until test -e go; do sleep 0.01; done; echo slow >> log", provider = "shell", cwd = %q }`, s.dir))
	s.write("quick.lua", fmt.Sprintf(`exec { "echo quick >> log", provider = "shell", cwd = %q }`, s.dir))
	before := time.Now().Truncate(time.Second)
	holder, wait := s.start("run", "slow.lua")
	s.waitFor("begun")

	d := s.run("run", "quick.lua")
	require.Equal(t, 1, d.code)
	head, since, ok := strings.Cut(strings.TrimSpace(d.err), ", since ")
	require.True(t, ok, d.err)
	require.Equal(t, fmt.Sprintf("ccm: another run holds the lock of %s: pid %d (realccm run slow.lua)", filepath.Join(s.dir, "state"), holder.Process.Pid), head)
	at, err := time.ParseInLocation(time.DateTime, since, time.Local)
	require.NoError(t, err)
	require.False(t, at.Before(before) || at.After(time.Now()), since)

	d = s.run("run", "--lock-timeout", "150ms", "quick.lua")
	require.Equal(t, 1, d.code)
	require.Contains(t, d.err, fmt.Sprintf("pid %d", holder.Process.Pid))
	s.ok("plan", "quick.lua") // a plan needs no lock

	var waiting []func() processResult
	for range 5 {
		_, w := s.start("run", "--lock-timeout", longEnough.String(), "quick.lua")
		waiting = append(waiting, w)
	}
	s.write("go", "")
	require.Zero(t, wait().code)
	for _, w := range waiting {
		d := w()
		require.Zero(t, d.code, d.err)
	}
	require.Equal(t, "slow\n"+strings.Repeat("quick\n", 5), s.read("log"))

	// The lock of a killed process is free.
	require.NoError(t, os.Remove(filepath.Join(s.dir, "go")))
	require.NoError(t, os.Remove(filepath.Join(s.dir, "begun")))
	holder, wait = s.start("run", "slow.lua")
	s.waitFor("begun")
	require.NoError(t, holder.Process.Kill())
	s.write("go", "") // ends the command that it left running
	wait()
	s.ok("run", "quick.lua")
}
