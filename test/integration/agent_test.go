//go:build integration

package integration

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// installAgent installs ccm and the unit of the agent as packages do.
func (l *lab) installAgent() {
	l.t.Helper()
	unit, err := os.ReadFile("../../.ci/packaging/ccm-agent.service")
	require.NoError(l.t, err)
	l.sh("cp /opt/ccm/ccm /usr/bin/ccm; mkdir -p /etc/ccm /usr/lib/systemd/system")
	l.write("/usr/lib/systemd/system/ccm-agent.service", unit)
	l.sh("systemctl daemon-reload; systemd-analyze verify --man=no /usr/lib/systemd/system/ccm-agent.service")
}

// siteOfAgent does what a hardened unit could forbid: it installs a package, starts a service, and makes files in
// home directories, in /tmp, and with the setuid bit.
const siteOfAgent = `
file.defaults { owner = "root", group = "root", mode = "0644" }
package { "ccm-demo-service", ensure = "present" }
service { "ccm-demo", enable = true }
file { "/root/made", content = "x" }
file { "/home/made", content = "x" }
file { "/tmp/made", content = "x" }
file { "/usr/local/bin/made", content = "#!/bin/sh\n", mode = "4755", special_bits = true }
`

// TestAgentUnit: systemd starts, reloads, stops and restarts the agent.
func TestAgentUnit(t *testing.T) {
	l := boot(t, debian)
	l.installAgent()
	l.write("/etc/ccm/site.lua", []byte(siteOfAgent))
	l.write("/etc/ccm/agent.yaml", []byte("sources: [/etc/ccm/site.lua]\n"))
	l.sh("systemctl start ccm-agent")
	l.until("the first run", "ccm agent status | grep -q '6 resources: 6 changed'")
	l.sh("ccm agent status; systemctl is-active ccm-agent ccm-demo; test -e /root/made; test -e /home/made; test -e /tmp/made; test -u /usr/local/bin/made")
	l.until("the log", "journalctl -q -u ccm-agent | grep -q 'package#ccm-demo-service: '")
	l.says("running", "systemctl is-system-running")
	require.Contains(t, l.sh("journalctl -q -u ccm-agent -o json | grep 'file#/tmp/made'"), `"PRIORITY":"6"`)

	// A waiting agent is small.
	rss, err := strconv.Atoi(l.sh("awk '/VmRSS/ { print $2 }' /proc/$(systemctl show -P MainPID ccm-agent)/status"))
	require.NoError(t, err)
	require.Less(t, rss, 30<<10, "KiB")
	t.Logf("VmRSS %d KiB, %s", rss, l.sh("grep -h Rss /proc/$(systemctl show -P MainPID ccm-agent)/status | tr -s '\\n\\t ' ' '"))

	// A mistake in the configuration is reported, and the old configuration stays.
	l.write("/etc/ccm/agent.yaml", []byte("source: [/etc/ccm/site.lua]\n"))
	l.sh("systemctl reload ccm-agent")
	l.until("the mistake", `journalctl -q -u ccm-agent -p err | grep -q 'unknown key "source" (did you mean "sources"?)'`)
	status := l.exec("ccm", "agent", "status")
	require.Equal(t, 4, status.status, "an agent runs, and something is wrong")
	require.Contains(t, status.stdout, `x new configuration rejected: /etc/ccm/agent.yaml:1:1: unknown key "source"`)
	require.Contains(t, status.stdout, "6 resources: ")
	l.write("/etc/ccm/agent.yaml", []byte("sources: [/etc/ccm/site.lua]\n"))
	l.write("/etc/ccm/site.lua", []byte("exec { 'slow', command = \"sh -c 'touch /run/began; until test -e /run/go; do sleep 0.1; done; touch /run/ended'\", unless = 'test -e /run/ended' }\nfile { '/run/after', content = 'x', owner = 'root', group = 'root', mode = '0644' }\n"))
	l.sh("systemctl reload ccm-agent")

	// When stopped during a run, it finishes the present command, and no later one.
	l.until("the command", "test -e /run/began")
	l.sh("systemctl stop --no-block ccm-agent")
	l.until("it is told", "systemctl is-active ccm-agent | grep -qx deactivating")
	l.sh("touch /run/go")
	l.until("its end", "systemctl is-active ccm-agent | grep -qx inactive")
	l.sh("test -e /run/ended; ! test -e /run/after")
	l.says("success", "systemctl show -P Result ccm-agent")
	require.Contains(t, l.sh("ccm history"), "interrupted")
	require.Equal(t, 1, l.exec("ccm", "agent", "status").status)

	// When killed during a run, it is started again, and the next run completes the work.
	l.sh("rm -f /run/began /run/ended /run/go; systemctl start ccm-agent")
	l.until("the command", "test -e /run/began")
	l.sh("kill -KILL $(systemctl show -P MainPID ccm-agent); touch /run/go")
	l.until("the agent after it", "test $(systemctl show -P NRestarts ccm-agent) -ge 1 && test -e /run/after && ccm agent status")
	l.says("active", "systemctl is-active ccm-agent")
	l.sh("systemctl restart ccm-agent")
	l.until("the run after a restart", "ccm agent status | grep -q '2 resources: 2 up to date'")
	require.NotRegexp(t, regexp.MustCompile("panic|internal error in ccm"), l.sh("journalctl -q -u ccm-agent"))
}

// TestAgentGuide runs the commands of docs/agent.md on two machines. The repository of the page is in a directory
// that both share instead of on a server.
func TestAgentGuide(t *testing.T) {
	nightly(t)
	t.Parallel()
	text, err := os.ReadFile("../../docs/agent.md")
	require.NoError(t, err)
	shared := t.TempDir()
	require.NoError(t, os.Chmod(shared, 0o755))
	require.NoError(t, exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", "-b", "main", shared+"/site.git").Run())
	machines := make(map[string]*lab)
	for _, name := range []string{"web1", "web2"} {
		l := &lab{t: t, name: "it-agent-guide-" + name, up: time.Now()}
		t.Cleanup(l.down)
		out, err := exec.CommandContext(t.Context(), labCommand, "up", l.name, "--replace", "--net", "--family", debian, "--bind", binaries+":/opt/ccm", "--bind-rw", shared+":/srv/git").CombinedOutput()
		require.NoError(t, err, "%s", out)
		l.installAgent()
		l.bringGit()
		keygen, err := exec.LookPath("ssh-keygen")
		require.NoError(t, err)
		l.bring(append([]string{keygen}, l.missing(keygen)...)...)
		l.sh("mkdir -p /usr/share/git-core/templates; git config --global --add safe.directory '*'")
		machines[name] = l
	}
	for _, l := range machines {
		l.knows("web1", machines["web1"])
	}
	page := strings.ReplaceAll(string(text), "https://git.example.org/site.git", "/srv/git/site.git")
	tried := 0
	for _, b := range dialog.Blocks(page) {
		if b.File != "" {
			machines["web1"].write("/srv/config/"+b.File, []byte(b.Text))
			continue
		}
		if !b.IsDialog() {
			continue
		}
		for _, c := range b.Commands() {
			l := machines[c.Prompt]
			require.NotNil(t, l, c.Line)
			tried++
			if strings.HasPrefix(c.Line, "scp ") { // there is no ssh between labs
				for _, file := range []string{"agent.yaml", "allowed_signers"} {
					machines["web2"].write("/etc/ccm/"+file, []byte(l.sh("cat /etc/ccm/"+file)+"\n"))
				}
				continue
			}
			// The page shows what the agent does after a moment. It may poll a repository only each five minutes, if
			// git is slow on this machine.
			looks := strings.HasPrefix(c.Line, "cat ") || strings.HasPrefix(c.Line, "ccm agent status")
			want, got := regexp.MustCompile(c.Answer()), ""
			for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
				got = l.sh("cd \"$(cat /tmp/where 2>/dev/null || echo /root)\"\n{ "+c.Line+"\n} 2>&1 || true\npwd >/tmp/where") + "\n"
				if !looks || want.MatchString(got) || time.Now().After(end) {
					break
				}
			}
			require.Regexp(t, want, got, "%s$ %s\n%s", c.Prompt, c.Line, l.sh("journalctl -q -u ccm-agent | tail -20"))
		}
	}
	require.Greater(t, tried, 20)
}

// TestAgentOfPackage installs the packages of ccm, and starts their agent: on an empty machine, and on one where the
// agent's directory exists already. An upgrade restarts the agent.
func TestAgentOfPackage(t *testing.T) {
	for name, x := range map[string]installer{"Deb": installsDeb, "Rpm": installsRPM} {
		t.Run(name, func(t *testing.T) {
			l := boot(t, x.family)
			l.offer(x, olderVersion)
			l.sh(x.install)
			l.says("disabled\ninactive", "systemctl is-enabled ccm-agent || :; systemctl is-active ccm-agent || :")
			l.write("/etc/ccm/site.lua", []byte(`file { "/etc/motd", content = "kept by ccm\n", owner = "root", group = "root", mode = "0644" }`+"\n"))
			l.write("/etc/ccm/agent.yaml", []byte("sources: [/etc/ccm/site.lua]\n"))
			l.sh("! test -e /var/lib/ccm; systemctl start ccm-agent")
			l.until("the first run", "ccm agent status | grep -q '1 resource: 1 changed'")
			l.says("700", "stat -c %a /var/lib/ccm")
			require.Contains(t, l.sh("ccm history"), "1 changed")

			l.sh("systemctl stop ccm-agent; rm -rf /var/lib/ccm; mkdir -m 0755 -p /var/lib/ccm/agent/sources")
			l.sh("ccm run /etc/ccm/site.lua")
			l.says("700", "stat -c %a /var/lib/ccm")
			l.sh("systemctl start ccm-agent")
			l.until("the first run", "ccm agent status | grep -q '1 resource: 1 up to date'")

			pid := l.sh("systemctl show -P MainPID ccm-agent")
			l.offer(x, newerVersion)
			l.sh(x.install)
			l.until("the agent of the new version", "ccm agent status | grep -q '^ccm "+newerVersion+", '")
			require.NotEqual(t, pid, l.sh("systemctl show -P MainPID ccm-agent"))
			l.sh(x.remove)
			l.until("its end", "! systemctl is-active ccm-agent")
		})
	}
}

// configOfChoria is a configuration of the agent of Choria CCM, at its own path.
const configOfChoria = `interval: 5m
health_check_interval: 1m
manifests:
  - /etc/choria/ccm/manifests/base.yaml
external_data_url: file:///etc/choria/ccm/data.yaml
cache_dir: /etc/choria/ccm/source
monitor_port: 9100
log_level: info
nats_context: CCM
`

// TestAgentOfChoria starts the agent on a machine with a configuration of Choria CCM, without any change.
func TestAgentOfChoria(t *testing.T) {
	l := boot(t, debian)
	l.installAgent()
	l.sh("rmdir /etc/ccm; mkdir -p /etc/choria/ccm/manifests")
	l.write("/etc/choria/ccm/config.yaml", []byte(configOfChoria))
	l.write("/etc/choria/ccm/data.yaml", []byte("data:\n  text: of the data\n"))
	l.write("/etc/choria/ccm/manifests/base.yaml", []byte(`data:
  text: own
ccm:
  resources:
    - file:
        - /etc/motd:
            content: "${ Data.text }\n"
            owner: root
            group: root
            mode: "0644"
            health_checks:
              - command: test -e /run/healthy
                name: healthy
`))
	l.sh("touch /run/healthy; systemctl start ccm-agent")
	l.until("the first run", "ccm agent status | grep -q '1 resource: 1 changed'")
	l.says("of the data", "cat /etc/motd")
	metrics := l.sh("python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:9100/metrics\").read().decode())'")
	require.Contains(t, metrics, `choria_ccm_agent_apply_duration_seconds_count{manifest="/etc/choria/ccm/manifests/base.yaml"} 1`)
	require.Contains(t, metrics, `choria_ccm_healthcheck_status_count{type="file",name="/etc/motd",status="ok",check="healthy"} 1`)
	l.sh("test -e /etc/choria/ccm/source/status.json; systemctl stop ccm-agent")
	l.says("success", "systemctl show -P Result ccm-agent")
}
