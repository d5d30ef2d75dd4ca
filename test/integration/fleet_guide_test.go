//go:build integration

package integration

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// TestFleetGuide runs the commands of docs/fleet.md on three machines: servers, nodes, a release with a canary, one
// that stops on a failure, and a rollback.
func TestFleetGuide(t *testing.T) {
	nightly(t)
	t.Parallel()
	text, err := os.ReadFile("../../docs/fleet.md")
	require.NoError(t, err)
	shared := t.TempDir()
	machines := make(map[string]*lab)
	for _, name := range []string{"web1", "web2", "web3"} {
		machines[name] = bootForFleet(t, "it-fleet-guide-", name, shared)
	}
	introduce(machines, machines)
	tried := 0
	for _, b := range dialog.Blocks(string(text)) {
		if b.File != "" {
			machines["web1"].sh("mkdir -p /root/demo/site")
			machines["web1"].write("/root/demo/"+b.File, []byte(b.Text))
			continue
		}
		if !b.IsDialog() {
			continue
		}
		for _, c := range b.Commands() {
			l := machines[c.Prompt]
			require.NotNil(t, l, c.Line)
			tried++
			if rest, ok := strings.CutPrefix(c.Line, "scp -q "); ok { // there is no ssh between labs
				from, to, ok := strings.Cut(rest, " web")
				require.True(t, ok, c.Line)
				host, dir, _ := strings.Cut("web"+to, ":")
				l.sh("rm -rf /srv/shared/*; cd /root/demo; cp -r " + from + " /srv/shared/")
				machines[host].sh("cp -r /srv/shared/* " + dir)
				continue
			}
			typeIntoFleet(t, l, c)
		}
	}
	require.Greater(t, tried, 30)
	machines["web2"].says("release 1", "cat /etc/motd")
}

// bootForFleet boots a machine with ccm, the agent's unit and nats-server, and without the packages that labs have of
// these.
func bootForFleet(t *testing.T, prefix, name, shared string) *lab {
	t.Helper()
	l := &lab{t: t, name: prefix + name, up: time.Now()}
	t.Cleanup(l.down)
	out, err := exec.CommandContext(t.Context(), labCommand, "up", l.name, "--replace", "--net", "--family", debian, "--bind", binaries+":/opt/ccm", "--bind-rw", shared+":/srv/shared").CombinedOutput()
	require.NoError(t, err, "%s", out)
	l.installAgent()
	l.sh("cp /opt/ccm/nats-server /usr/local/bin/; userdel nats 2>/dev/null || :; rm -rf /var/lib/nats; hostname " + name)
	if strings.HasSuffix(name, "1") { // it may be the operator's
		keygen, err := exec.LookPath("ssh-keygen")
		require.NoError(t, err)
		l.bring(append([]string{keygen}, l.missing(keygen)...)...)
	}
	return l
}

// introduce adds the short names of machines to the hosts of others.
func introduce(machines, others map[string]*lab) {
	for _, l := range machines {
		for name, other := range others {
			l.knows(name, other)
		}
	}
}

// typeIntoFleet runs a command of the page, and compares its output. The page shows what servers and agents do after
// a moment.
func typeIntoFleet(t *testing.T, l *lab, c dialog.Command) {
	t.Helper()
	looks := strings.HasPrefix(c.Line, "cat ") || strings.HasPrefix(c.Line, "ccm fleet nodes") || strings.Contains(c.Line, " --apply")
	want, script, got := regexp.MustCompile(c.Answer()), "{ "+c.Line+"\n} 2>&1", ""
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		out := l.exec("sh", "-c", "cd \"$(cat /tmp/where 2>/dev/null || echo /root)\"\n"+script+"\nstatus=$?\npwd >/tmp/where\nexit $status")
		got = out.stdout + out.stderr
		good := out.status == 0 && want.MatchString(got)
		if good || !looks || time.Now().After(end) {
			require.True(t, good, "%s$ %s\n%s(status %d)\n%s", c.Prompt, c.Line, got, out.status, l.sh("journalctl -q -u ccm-agent -u nats | tail -40"))
			break
		}
	}
	t.Logf("%s$ %s\n%s", c.Prompt, c.Line, got)
}
