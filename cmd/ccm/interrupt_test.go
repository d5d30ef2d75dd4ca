package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/test/tally"
)

// longEnough is far longer than anything here takes that ends at all.
const longEnough = 2 * time.Minute

// slowServer answers, and then sends a little from time to time, for ever. It sends to began for each request.
func slowServer(t *testing.T) (url string, began chan struct{}) {
	began = make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		for r.Context().Err() == nil {
			fmt.Fprint(w, strings.Repeat("x", 1000))
			w.(http.Flusher).Flush()
			select {
			case <-time.After(50 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, began
}

// appears waits until a file exists.
func appears(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool { _, err := os.Stat(name); return err == nil }, longEnough, 5*time.Millisecond, name)
}

// stubborn is a command that ignores signals, and makes a file when it begins.
func stubborn(file string) string {
	return fmt.Sprintf(`sh -c 'trap "" TERM INT HUP; echo $$ > %[1]s.tmp; mv %[1]s.tmp %[1]s; while :; do sleep 1; done'`, file)
}

// The second signal ends a run and the processes that it has started, whatever it is blocked in.
func TestSecondSignalEnds(t *testing.T) {
	long(t)
	tries := tally.Of(t, "two signals while a run waits for a server, a command, a guard, a check, a script, its input or who reads its report", "it exits with 130, and its commands are gone")
	dir := t.TempDir()
	marker := filepath.Join(dir, "began")
	server, asked := slowServer(t)
	file := func(*exec.Cmd) { appears(t, marker) }
	request := func(*exec.Cmd) { <-asked }
	for name, tt := range map[string]struct {
		site  string
		args  []string
		began func(*exec.Cmd)
	}{
		"a source by URL":    {`file { "` + dir + `/f", source = "` + server + `/x", owner = "root", group = "root", mode = "0644" }`, nil, request},
		"an archive":         {`archive { "` + dir + `/a.tgz", url = "` + server + `/a.tgz", owner = "root", group = "root" }`, nil, request},
		"http.get":           {`http.get("` + server + `", { timeout = "1h" })`, nil, request},
		"a command":          {fmt.Sprintf(`exec { "x", command = %q }`, stubborn(marker)), nil, file},
		"a guard":            {fmt.Sprintf(`exec { "x", command = "true", onlyif = %q }`, stubborn(marker)), nil, file},
		"capture":            {fmt.Sprintf(`capture { "sh", "-c", %q, timeout = "1h" }`, strings.TrimSuffix(strings.TrimPrefix(stubborn(marker), "sh -c '"), "'")), nil, file},
		"a health check":     {fmt.Sprintf(`exec { "x", command = "true", health_checks = { { command = %q, timeout = "1h" } } }`, stubborn(marker)), nil, file},
		"a validate command": {fmt.Sprintf(`file { "`+dir+`/v", content = "x", owner = "root", group = "root", mode = "0644", validate = { "sh", "-c", %q, "%%s" } }`, strings.TrimSuffix(strings.TrimPrefix(stubborn(marker), "sh -c '"), "'")), nil, file},
		"a loop":             {fmt.Sprintf(`capture { "touch", %q } while true do end`, marker), nil, file},
		"a decision of a type": {fmt.Sprintf(`local t = ccm.type { name = "t", properties = { name = { name = true } },
			status = function(want, host) host.query { "touch", %q } return { ensure = "absent" } end,
			decide = function() while true do end end, perform = function() end }
			t { "x" }`, marker), nil, file},
	} {
		t.Run(name, func(t *testing.T) {
			tries.Add(1)
			_ = os.Remove(marker)
			cmd := exec.Command("ccm", append([]string{"run", "--state-dir", t.TempDir(), siteFile(t, "lua", tt.site)}, tt.args...)...)
			endsBySecondSignal(t, cmd, tt.began)
			if pid, err := os.ReadFile(marker); err == nil && len(pid) > 0 {
				n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
				require.NoError(t, err)
				require.Eventually(t, func() bool { return gone(n) }, longEnough, 5*time.Millisecond, "the command goes on")
			}
		})
	}
	t.Run("standard input", func(t *testing.T) {
		tries.Add(1)
		cmd := exec.Command("ccm", "run", "--state-dir", t.TempDir(), "-")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		defer in.Close()
		endsBySecondSignal(t, cmd, func(*exec.Cmd) {
			_, err := io.WriteString(in, strings.Repeat("-- more than a pipe holds\n", 10000))
			require.NoError(t, err)
		})
	})
	t.Run("a reader that does not read", func(t *testing.T) {
		tries.Add(1)
		_ = os.Remove(marker)
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer r.Close()
		site := fmt.Sprintf(`for i = 1, 20000 do exec { "some command with a long name " .. i, command = i == 1 and "touch %s" or "true", creates = i > 1 and "/" or nil } end`, marker)
		cmd := exec.Command("ccm", "run", "-v", "--output", "json", "--state-dir", t.TempDir(), siteFile(t, "lua", site))
		cmd.Stdout = w
		endsBySecondSignal(t, cmd, func(cmd *exec.Cmd) {
			w.Close()
			file(cmd)
			waitsIn(t, cmd.Process.Pid, "pipe_write")
		})
	})
}

// waitsIn waits until a thread of a process is blocked in a function of the kernel.
func waitsIn(t *testing.T, pid int, function string) {
	require.Eventually(t, func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
		for _, task := range tasks {
			if text, err := os.ReadFile(task); err == nil && (strings.Contains(string(text), function) || string(text) == "0") {
				return true
			}
		}
		return false
	}, longEnough, 5*time.Millisecond)
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// endsBySecondSignal starts a command, waits for began and sends two signals. The exit status must be 130.
func endsBySecondSignal(t *testing.T, cmd *exec.Cmd, began func(*exec.Cmd)) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	began(cmd)
	go func() { done <- cmd.Wait() }()
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-done:
	case <-time.After(longEnough):
		_ = cmd.Process.Kill()
		t.Fatalf("it does not end: %s", &stderr)
	}
	require.Equal(t, cli.ExitInterrupted, cmd.ProcessState.ExitCode(), "%s", &stderr)
}

// The timeouts of a resource and of a run end a slow download.
func TestTimeoutOfSource(t *testing.T) {
	server, asked := slowServer(t)
	for _, args := range [][2]string{{`, timeout = "%s"`, "1h"}, {"", "%s"}} {
		for limit := 300 * time.Millisecond; len(asked) == 0; limit *= 4 { // until a request has reached the server before the timeout
			require.Less(t, limit, longEnough)
			with := strings.NewReplacer("%s", limit.String()).Replace
			site := `file { "` + t.TempDir() + `/f", source = "` + server + `/x", owner = "root", group = "root", mode = "0644"` + with(args[0]) + ` }`
			cmd := exec.Command("ccm", "run", "--state-dir", t.TempDir(), "--timeout", with(args[1]), siteFile(t, "lua", site))
			out, _ := cmd.CombinedOutput()
			require.Equal(t, cli.ExitFailed, cmd.ProcessState.ExitCode(), "%s", out)
			require.Contains(t, string(out), limit.String())
		}
		<-asked
	}
}

// The next run, of any site, ends the processes that a killed run has left, and no others.
func TestCommandsLeftBehind(t *testing.T) {
	long(t)
	tries := tally.Of(t, "`kill -9` of a run whose command goes on: stubborn, without a shell, a child alone, with a daemon", "the next run of another site ends the command, and not the daemon")
	dir, state := t.TempDir(), t.TempDir()
	marker := filepath.Join(dir, "began")
	next := func() string {
		out, err := exec.Command("ccm", "run", "--state-dir", state, siteFile(t, "lua", `exec { "true" }`)).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	for name, tt := range map[string]struct {
		command string
		ends    bool
	}{
		"stubborn":        {stubborn(marker), true},
		"without a shell": {fmt.Sprintf(`sh -c "echo $$ > %s; exec sleep 1000"`, marker), true},
		"its child":       {fmt.Sprintf(`sh -c 'sleep 1000 & echo $! > %s; kill -9 $PPID; exit'`, marker), true},
		"a daemon":        {fmt.Sprintf(`sh -c 'setsid sh -c "echo \$\$ > %s; exec sleep 1000" & sleep 1000'`, marker), false},
	} {
		t.Run(name, func(t *testing.T) {
			tries.Add(1)
			_ = os.Remove(marker)
			cmd := exec.Command("ccm", "run", "--state-dir", state, siteFile(t, "lua", fmt.Sprintf(`exec { "x", command = %q }`, tt.command)))
			require.NoError(t, cmd.Start())
			var pid int
			require.Eventually(t, func() bool {
				text, _ := os.ReadFile(marker)
				_, err := fmt.Sscan(string(text), &pid)
				return err == nil
			}, longEnough, 5*time.Millisecond)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
			require.False(t, gone(pid))
			out := next()
			require.Equal(t, tt.ends, gone(pid), out)
			require.Contains(t, out, "ccm: warning: ended the command ")
			require.Contains(t, out, "left behind when it was killed")
			require.NotContains(t, next(), "warning")
		})
	}
}

// Reading an inherited pipe that nobody closes ends with the timeout of the script or the run, and with the first
// signal.
func TestInputsEnd(t *testing.T) {
	site := siteFile(t, "lua", "print 'evaluated'")
	for _, flag := range []string{"--data", "--facts", "--env-file"} {
		var w *os.File
		start := func(args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
			var r *os.File
			var err error
			r, w, err = os.Pipe()
			require.NoError(t, err)
			t.Cleanup(func() { w.Close() })
			cmd = exec.Command("ccm", append(args, flag, "/dev/fd/3", site)...)
			cmd.ExtraFiles, stderr = []*os.File{r}, new(bytes.Buffer)
			cmd.Stderr = stderr
			require.NoError(t, cmd.Start())
			r.Close()
			return cmd, stderr
		}
		for _, args := range [][]string{{"plan", "--eval-timeout", "10ms"}, {"run", "--timeout", "10ms", "--state-dir", t.TempDir()}} {
			cmd, stderr := start(args...)
			require.Error(t, cmd.Wait())
			require.Equal(t, cli.ExitUsage, cmd.ProcessState.ExitCode(), "%s", stderr)
			require.Contains(t, stderr.String(), "/dev/fd/3: command exceeded the time limit of 10ms (raise it with --eval-timeout or --timeout)")
		}
		cmd, stderr := start("plan", "--eval-timeout", "1h")
		_, err := w.WriteString("x")
		require.NoError(t, err)
		require.Eventually(t, func() bool { // until it was read
			n, err := unix.IoctlGetInt(int(w.Fd()), askUnread)
			return err == nil && n == 0
		}, longEnough, 5*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.Error(t, cmd.Wait())
		require.Equal(t, cli.ExitInterrupted, cmd.ProcessState.ExitCode(), "%s", stderr)
	}
}
