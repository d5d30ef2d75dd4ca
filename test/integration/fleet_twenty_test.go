//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// siteOfTwenty is the site of the nodes: a package, its service, and a file.
const siteOfTwenty = `package { "ccm-demo-service", ensure = "present" }
service { "ccm-demo", enable = true, subscribe = "package#ccm-demo-service" }
file { "/etc/motd", content = "release %d\n", owner = "root", group = "root", mode = "0644" }
`

// A rolloutResult has the parts of ccm fleet rollout that the test uses.
type rolloutResult struct {
	State  string `json:"state"`
	Why    string `json:"why"`
	Stages []struct {
		Nodes       int      `json:"nodes"`
		Done        int      `json:"done"`
		FailedNodes []string `json:"failed_nodes"`
		SilentNodes []string `json:"silent_nodes"`
	} `json:"stages"`
	Causes []struct {
		Resource string   `json:"resource"`
		Message  string   `json:"message"`
		Nodes    []string `json:"nodes"`
	} `json:"causes"`
}

// rollout returns the state of the release.
func rollout(l *lab) (r rolloutResult) {
	l.t.Helper()
	text := l.sh("ccm fleet rollout prod --output json --sign /root/ops")
	require.NoError(l.t, json.Unmarshal([]byte(text), &r), text)
	return r
}

// instances is the number of inotify(7) instances that a machine needs, with a reserve.
const instances = 8

// most returns the number of nodes that can run beside three servers: 20, if the system allows enough instances of
// inotify for their systemd. fs.inotify.max_user_instances is 128 on many systems; the test raises it if it may.
func most(t *testing.T) int {
	const file = "/proc/sys/fs/inotify/max_user_instances"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	if limit < 23*instances && os.WriteFile(file, []byte(strconv.Itoa(23*instances)), 0) == nil {
		t.Cleanup(func() { require.NoError(t, os.WriteFile(file, text, 0)) })
		limit = 23 * instances
	}
	count := min(20, limit/instances-3)
	if count < 20 {
		t.Logf("%d nodes: for 20 this test wants fs.inotify.max_user_instances=%d, it is %d", count, 23*instances, limit)
	}
	require.GreaterOrEqual(t, count, 5)
	return count
}

// TestFleetOfTwenty: 20 machines with real systemd and apt take a release in stages, while a server is killed, one
// node has no network, and one a full disk. The rollout reports exactly that.
func TestFleetOfTwenty(t *testing.T) {
	if os.Getenv("CCM_FLEET_SOAK") == "" {
		t.Skip("make fleet-soak runs it")
	}
	shared := t.TempDir()
	servers, nodes := map[string]*lab{}, map[string]*lab{}
	for i := range 3 {
		name := fmt.Sprintf("srv%d", i+1)
		servers[name] = bootForFleet(t, "it-twenty-", name, shared)
	}
	var names []string
	for i := range most(t) {
		name := fmt.Sprintf("node%02d", i+1)
		nodes[name] = bootForFleet(t, "it-twenty-", name, shared)
		names = append(names, name)
	}
	introduce(servers, servers)
	introduce(nodes, servers)
	ops := servers["srv1"]
	beginTwenty(ops, servers)
	for _, name := range names {
		joinTwenty(nodes[name], name)
	}
	ops.until("all nodes", fmt.Sprintf("test $(ccm fleet nodes --where 'labels[\"os.family\"] != \"\"' --output names | wc -l) = %d", len(nodes)))
	releaseTwenty(ops, 1, "--max-failed 0")
	ops.sh("ccm fleet rollout prod --watch --sign /root/ops")
	for _, l := range nodes {
		l.says("release 1\nactive", "cat /etc/motd; systemctl is-active ccm-demo")
	}

	// One has no network, one a full disk; and during the release a server dies.
	away, full := names[len(names)-2], names[len(names)-1]
	nodes[away].sh("for i in /sys/class/net/*; do test ${i##*/} = lo || ip link set ${i##*/} down; done")
	nodes[full].sh("dd if=/dev/zero of=/var/lib/ccm/fill bs=64k 2>/dev/null || :")
	releaseTwenty(ops, 2, "--canary 'node == \"node01\"' --stages 25%,100% --max-failed 1 --max-silent 1")
	wait := ops.start("sh", "-c", "ccm fleet rollout prod --watch --sign /root/ops")
	nodes["node01"].until("the canary", "grep -q 'release 2' /etc/motd")
	servers["srv2"].sh("systemctl kill -s KILL nats")
	out, err := wait()
	require.NoError(t, err)
	require.Zero(t, out.status, "%s%s", out.stdout, out.stderr)

	r := rollout(ops)
	require.Equal(t, "done", r.State, out.stdout)
	var done int
	var failed, silent []string
	for _, s := range r.Stages {
		done, failed, silent = done+s.Done, append(failed, s.FailedNodes...), append(silent, s.SilentNodes...)
	}
	t.Logf("%s", ops.sh("ccm fleet rollout prod --sign /root/ops"))
	require.Equal(t, []string{full}, failed)
	require.Equal(t, []string{away}, silent)
	require.Equal(t, len(nodes)-2, done)
	require.Len(t, r.Causes, 1)
	require.Contains(t, r.Causes[0].Message, "no space left on device")
	for name, l := range nodes {
		want := "release 2"
		if slices.Contains([]string{away, full}, name) {
			want = "release 1"
		}
		l.says(want, "cat /etc/motd")
	}
	check := ops.exec("ccm", "fleet", "check")
	require.Equal(t, 4, check.status)
	require.Contains(t, check.stdout, "server srv2 does not respond")

	// Everything recovers by itself.
	servers["srv2"].sh(startNATS)
	nodes[away].sh("for i in /sys/class/net/*; do ip link set ${i##*/} up; done")
	nodes[full].sh("rm /var/lib/ccm/fill")
	for _, name := range []string{away, full} {
		nodes[name].until("release 2", "grep -q 'release 2' /etc/motd")
	}
}

const startNATS = "systemctl reset-failed nats 2>/dev/null || :; systemd-run -q --unit nats nats-server -c /etc/nats/nats.conf"

// beginTwenty makes the fleet, and starts its servers.
func beginTwenty(ops *lab, servers map[string]*lab) {
	ops.sh(`ssh-keygen -q -t ed25519 -N '' -C ops -f /root/ops
echo "ops@example.org $(cat /root/ops.pub)" > /srv/shared/allowed_signers
ccm fleet init ~/.config/ccm/fleet --server srv1 --server srv2 --server srv3 --environment prod --events-size 128MiB --jobs-size 32MiB --sites-size 128MiB
cp -r ~/.config/ccm/fleet/srv* ~/.config/ccm/fleet/ca.pem ~/.config/ccm/fleet/enrol.creds /srv/shared/`)
	for name, l := range servers {
		l.sh("mkdir -p /etc/nats; cp /srv/shared/" + name + "/* /etc/nats/; " + startNATS)
	}
	ops.until("the streams", "ccm fleet init ~/.config/ccm/fleet --apply")
	ops.sh(`ccm fleet enrol token --name 'node*' --environment prod --uses 20 --expires 2h > /srv/shared/token
systemd-run -q --unit approve -E HOME=/root ccm fleet enrol approve --watch --token-file /root/.config/ccm/fleet/tokens`)
}

// joinTwenty makes a machine a node. ccm's files are on a small disk of their own.
func joinTwenty(l *lab, name string) {
	l.sh("mkdir -p -m 0700 /var/lib/ccm; mount -t tmpfs -o size=64m,mode=0700 tmpfs /var/lib/ccm; mkdir -p /root/join /etc/ccm; cp /srv/shared/ca.pem /srv/shared/enrol.creds /srv/shared/allowed_signers /srv/shared/token /root/join/")
	servers := []string{"tls://srv1", "tls://srv2", "tls://srv3"}
	l.sh("cd /root/join; ccm agent enrol --servers " + strings.Join(servers, ",") + " --ca ca.pem --credentials enrol.creds --signers allowed_signers --environment prod --token-file token --name " + name)
	l.write("/etc/ccm/agent.yaml", []byte("interval: 30m\nfleet:\n  servers: ["+strings.Join(servers, ", ")+"]\n  ca: /etc/ccm/fleet/ca.pem\n  credentials: /etc/ccm/fleet/node.creds\n  signers: /etc/ccm/fleet/allowed_signers\n"))
	l.sh("systemctl start ccm-agent")
}

// releaseTwenty releases a site.
func releaseTwenty(ops *lab, number int, flags string) {
	ops.write("/root/site.lua", fmt.Appendf(nil, siteOfTwenty, number))
	ops.sh("mkdir -p /root/site; mv /root/site.lua /root/site/; ccm fleet release prod /root/site --no-check --sign /root/ops " + flags)
}
