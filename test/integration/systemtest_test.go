//go:build integration

package integration

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSystems: ccm test --system with the system of the labs. A good site passes with a reboot, its specs see the real
// machine, and nothing is left on this one; each of three faults of a site is reported with what to do.
func TestSystems(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	lab := cmp.Or(os.Getenv("LAB_DIR"), filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "ccm-lab"))
	var layers []string
	for _, kind := range []string{"layer-*", "archive-*", "base-*"} {
		found, err := filepath.Glob(filepath.Join(lab, kind))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		layers = append(layers, found[0])
	}
	system, cache := "lab=image:"+strings.Join(layers, ":"), t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "ccm"), args...)
		cmd.Env = append(os.Environ(), "CCM_CACHE_DIR="+cache, "NO_COLOR=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
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
	out, err := run("test", "--system", system, "--reboot", site(unit+`
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

	out, err = run("test", "--system", system, "--reboot", site(unit+`
exec { "sh -c 'date +%N > /var/lib/stamp'" }
file { "/run/app.conf", content = "x\n" }
service { "web", subscribe = "file#/etc/systemd/system/web.service" }
`, ""))
	require.Error(t, err)
	for _, lines := range []string{
		"exec#sh -c 'date +%N > /var/lib/stamp' changes in every run: Executed (site.lua:6)\n" +
			"lab        add creates, onlyif or unless, or run it with refreshonly and subscribe\n",
		"file#/run/app.conf does not survive a reboot: Created the file (site.lua:7)\nlab        it is in memory: ",
		"service#web does not survive a reboot: Started (site.lua:8)\nlab        start it at boot: enable = true\n",
		"  lab  failed: second run, reboot\n",
	} {
		require.Contains(t, out, lines)
	}

	left, err := os.ReadDir(filepath.Join(cache, "systems/run"))
	require.NoError(t, err)
	require.Empty(t, left)
}
