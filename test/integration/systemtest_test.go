//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSystems: ccm test --system with the system of the labs. A good site passes with a reboot, its specs see the real
// machine, and nothing is left on this one; each of three faults of a site is reported with what to do.
func TestSystems(t *testing.T) {
	t.Parallel()
	lab := bootAs(t, "it-systems", mixed)
	system, cache := "lab="+lab.image(), t.TempDir()
	run := func(args ...string) (string, error) { return onSystems(t, cache, args...) }
	site := func(script, spec string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(script), 0o644))
		if spec != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "site_spec.lua"), []byte(spec), 0o644))
		}
		return dir
	}
	const unit = `
file.defaults { owner = "root", group = "root", mode = "0644" }
file { "/etc/systemd/system/web.service",
  content = "[Service]\nExecStart=/usr/bin/python3 -m http.server 80\n[Install]\nWantedBy=multi-user.target\n" }
`
	out, err := run("--system", system, "--reboot", site(unit+`
package { "ccm-demo" }
service { "web", enable = true, subscribe = "file#/etc/systemd/system/web.service", health_checks = {
  { command = "systemctl is-active web" },
} }
exec { "wait for web", refreshonly = true, subscribe = "service#web", timeout = "1m",
  command = { "bash", "-c", "until (exec 3<> /dev/tcp/localhost/80) 2> /dev/null; do :; done" } }
`, `
describe("the machine", { system = true }, function()
  it("serves", function()
    assert.equal(200, machine:http("http://localhost/").status)
    assert.is_true(machine:port(80).listening)
    assert.is_false(machine:port(81).listening)
    assert.same({ exists = true, running = true, enabled = true }, machine:service("web"))
    assert.same({ exists = false, running = false, enabled = false }, machine:service("nothing"))
    local unit = machine:file("/etc/systemd/system/web.service")
    assert.same({ "file", "0644", "root", "root", #unit.content }, { unit.type, unit.mode, unit.owner, unit.group, unit.size })
    assert.same({ exists = false }, machine:file("/nothing"))
    assert.equal("link", machine:file("/bin").type)
    assert.equal("usr/bin", machine:file("/bin").target)
    assert.same({ stdout = "1.0\n", stderr = "x\n", code = 3 }, machine:command("echo 1.0; echo x >&2; exit 3"))
  end)
end)
`))
	require.NoError(t, err, out)
	for _, line := range []string{
		"lab  passed   plan equals run", "lab  passed   second run: 4 up to date", "lab  passed   health checks: 1", "lab  passed   specs: 1",
		"lab  passed   reboot: 4 up to date", "lab  passed   undo: left ", "lab  passed   run after undo: ", "1 system: 1 passed, 0 failed",
	} {
		require.Contains(t, out, line)
	}

	// Three faults as they are seen together, on two distributions.
	other := bootAs(t, "it-systems-rhel", rhel)
	out, err = run("--system", system+",rhel="+other.image(), "--reboot", site(unit+`
exec { "sh -c 'date +%N > /var/lib/stamp'" }
file { "/run/app.conf", content = "x\n" }
service { "web", subscribe = "file#/etc/systemd/system/web.service" }
package { "ccm-demo" }
`, ""))
	require.Error(t, err)
	for _, lines := range []string{
		"exec#sh -c 'date +%N > /var/lib/stamp' changes in every run: Executed (site.lua:6)\n" +
			"lab         add creates, onlyif or unless, or run it with refreshonly and subscribe\n",
		"file#/run/app.conf does not survive a reboot: Created the file (site.lua:7)\nlab         it is in memory: ",
		"service#web does not survive a reboot: Started (site.lua:8)\nlab         start it at boot: enable = true\n",
		"  lab   failed: second run, reboot\n",
		"\npackage#ccm-demo fails (run) on rhel, and not on lab: choose by facts.os.family, or use a resource that knows both\n",
	} {
		require.Contains(t, out, lines)
	}

	left, err := os.ReadDir(filepath.Join(cache, "systems/run"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestSystemsOfEndedTests: an interrupted test removes its system, and that of a killed one is removed by the next test.
func TestSystemsOfEndedTests(t *testing.T) {
	t.Parallel()
	image := bootAs(t, "it-systems-ended", mixed).image()
	cache, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(`exec { "sleep 86399.125", timeout = "2d" }`), 0o644))
	running := func() (found []string) { // of what the system had
		names, err := filepath.Glob("/proc/[0-9]*/cmdline")
		require.NoError(t, err)
		for _, name := range names {
			if text, _ := os.ReadFile(name); string(text) == "sleep\x0086399.125\x00" {
				found = append(found, name)
			}
		}
		for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			groups, err := filepath.Glob(dir + "/ccm-test.ended-*")
			require.NoError(t, err)
			found = append(found, groups...)
		}
		systems, err := filepath.Glob(filepath.Join(cache, "systems/run/*"))
		require.NoError(t, err)
		return append(found, systems...)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "ccm"), "test", "--system", "ended="+image, dir)
		cmd.Env = append(os.Environ(), "CCM_CACHE_DIR="+cache, "NO_COLOR=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var problem bytes.Buffer
		cmd.Stderr = &problem
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for lines.Scan() && !strings.Contains(lines.Text(), "passed   plan") { // then it is in the run
		}
		require.Contains(t, lines.Text(), "passed   plan: 1 pending", problem.String())
		require.Eventually(t, func() bool {
			return slices.ContainsFunc(running(), func(s string) bool { return strings.HasSuffix(s, "/cmdline") })
		}, patience, 20*time.Millisecond)
		require.NoError(t, syscall.Kill(-cmd.Process.Pid, signal)) // as a terminal does it
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		err = cmd.Wait()
		if signal == syscall.SIGINT {
			require.Equal(t, 130, cmd.ProcessState.ExitCode(), "%v\n%s\n%s", err, rest, problem.String())
			require.Empty(t, running())
			continue
		}
		text, err := onSystems(t, cache, "--system", "nothing=root:/nowhere", dir)
		require.Error(t, err)
		require.Regexp(t, `(?m)^ccm: removed ended-[0-9a-f]{6}, which an earlier test left behind$`, text)
		require.Empty(t, running())
	}
}
