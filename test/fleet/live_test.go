package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
)

// An agentProcess is ccm agent, as a node of a lab.
type agentProcess struct {
	*nodeIdentity
	dir string
}

// startAgent starts an agent as a new node, which obeys whoever stands in allowed. It ends with the test.
func (l *lab) startAgent(t *testing.T, name, environment, allowed string) *agentProcess {
	t.Helper()
	a := &agentProcess{nodeIdentity: l.addNode(t, name, environment), dir: t.TempDir()}
	d := l.directory(t)
	signers, config := filepath.Join(a.dir, "allowed_signers"), filepath.Join(a.dir, "agent.yaml")
	require.NoError(t, os.WriteFile(signers, []byte(allowed), 0o644))
	urls, err := json.Marshal(d.Fleet.URLs())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "fleet:\n  servers: %s\n  ca: %s\n  credentials: %s\n  signers: %s\ncache_dir: %s\n",
		urls, d.CA(), a.credentials, signers, filepath.Join(a.dir, "cache")), 0o644))
	cmd, said := exec.Command(binary, "--allow-insecure", "agent", "--config", config), new(output)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CCM_STATE_DIR="+filepath.Join(a.dir, "state"), "NO_COLOR=1"), said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("agent %s:\n%s", name, said)
		}
	})
	waitFor(t, "the facts of "+name, func() error {
		stdout, stderr, _ := l.ccm("fleet", "nodes", "--where", `seen < duration("3m") && facts.os != nil`, "--output", "names")
		if !strings.Contains(stdout, name+"\n") {
			return fmt.Errorf("%s%s", stdout, stderr)
		}
		return nil
	})
	return a
}

// The tests of commands that ask running nodes share one fleet.
func TestAskingNodes(t *testing.T) {
	l := newLab(t)
	key, allowed := l.operatorKey(t, "ops", 7)
	web := l.startAgent(t, "web1", "prod", allowed)
	t.Run("live", func(t *testing.T) { l.testNodesLive(t, key, web) })
	t.Run("fill", func(t *testing.T) { l.testEventsFill(t, key) })
}

// With --live the nodes answer with their present state, and stored messages do not count. Nodes that do not
// answer are named on standard error, and are in no list.
func (l *lab) testNodesLive(t *testing.T, key string, web *agentProcess) {
	l.addNode(t, "new1", "test")
	l.says(t, l.addNode(t, "deaf1", "test"), record.State{Outcome: "stable"}, map[string]any{"os": map[string]any{"family": "amiga"}})

	// The stored facts of web1 differ from those of the running agent.
	text, err := record.Facts{Node: "web1", Time: time.Now(), Facts: map[string]any{"os": map[string]any{"family": "amiga"}}}.Encode()
	require.NoError(t, err)
	_, err = direct.Publish(t.Context(), l.dial(t, web.nodeIdentity), subject.KV(subject.Nodes, subject.FactsKey("web1")), text)
	require.NoError(t, err)
	amiga := []string{"fleet", "nodes", "--where", `facts.os.family == "amiga"`, "--output", "names"}
	waitFor(t, "what web1 told", func() error {
		if stdout := l.must(t, amiga...); stdout != "deaf1\nweb1\n" {
			return errors.New(stdout)
		}
		return nil
	})
	live := []string{"--live", "--sign", key}
	stdout, stderr, status := l.ccm(append(amiga, append(live, "--environment", "test", "--within", "1s")...)...)
	require.Equal(t, 4, status, "a node that sent a heartbeat did not answer")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "No response within 1s: deaf1\n")
	require.Contains(t, stderr, "Not contacted, because they are silent: new1\n")

	prod := append([]string{"fleet", "nodes", "--environment", "prod"}, live...)
	require.Empty(t, l.must(t, append(prod, "--output", "names", "--where", `facts.os.family == "amiga"`)...))
	var n struct {
		Node  string
		Facts map[string]any
	}
	text = []byte(l.must(t, append(prod, "--output", "json", "--where", `facts.os.family != "amiga"`)...))
	require.NoError(t, json.Unmarshal(text, &n), "%s", text)
	require.Equal(t, "web1", n.Node)
	require.NotEmpty(t, n.Facts)
	stdout, stderr, status = l.ccm(prod...)
	require.Zero(t, status, stderr)
	require.Regexp(t, `(?m)^web1 +prod +\d+s `, stdout)
	require.Contains(t, stderr, "1 of 1 node; 1 responded")
	require.Contains(t, l.must(t, "fleet", "nodes", "web1", "--live", "--sign", key), "node: web1\n")

	for _, c := range []struct{ node, want string }{
		{"new1", "new1 does not respond (show its last report with: ccm fleet nodes new1)"},
		{"wbe1", `no node wbe1 in the fleet (did you mean "web1"?)`},
	} {
		_, stderr, status = l.ccm("fleet", "nodes", c.node, "--live", "--sign", key)
		require.NotZero(t, status)
		require.Contains(t, stderr, c.want)
	}
	l.must(t, "fleet", "user", "ann", "--role", "viewer")
	viewer := *l
	viewer.dir = filepath.Join(l.dir, "users", "ann")
	for _, args := range [][]string{{"nodes", "--live"}, {"events", "--fill"}, {"run", "web1"}, {"facts", "web1"}, {"plan", "--all"}, {"cancel", "web1"}, {"release", "prod", "site"}, {"rollout", "prod", "--watch"},
		{"rollback", "prod"}, {"rollout", "pause", "prod"}, {"rollout", "resume", "prod"}, {"rollout", "next", "prod"}, {"rollout", "abort", "prod"}, {"signers", "prod", key}} {
		_, stderr, status = viewer.ccm(append([]string{"fleet"}, append(args, "--sign", key)...)...)
		require.NotZero(t, status)
		require.Contains(t, stderr, "the command requires an operator of the fleet, but ann is a viewer (ask an admin to run: ccm fleet user ann --role operator)", "%s", args)
	}
}

// If the servers have lost messages of a node, the numbers of its messages have gaps. The node sends the
// missing messages again, from the records of its runs.
func (l *lab) testEventsFill(t *testing.T, key string) {
	made := filepath.Join(t.TempDir(), "made")
	site := l.site(t, fmt.Sprintf("file { %q, content = 'x', owner = '%d', group = '%d', mode = '0644' }\n", made, os.Getuid(), os.Getgid()))
	require.Regexp(t, `"environment": ?"prod",\s*"release": ?1,\s*"bundle": ?"sha256:`, l.must(t, "fleet", "release", "prod", site, "--sign", key, "--no-check", "--output", "json"))
	becomes(t, made, "x", new(output))
	for range 3 {
		require.NoError(t, os.Remove(made))
		l.must(t, "fleet", "run", "web1", "--sign", key)
	}
	events := func() map[string]bool {
		ids := make(map[string]bool)
		for line := range strings.Lines(l.must(t, "fleet", "events", "web1", "--output", "json")) {
			var x struct {
				Event string `json:"event_id"`
			}
			require.NoError(t, json.Unmarshal([]byte(line), &x), line)
			if x.Event != "" {
				require.False(t, ids[x.Event], "told once: %s", line)
				ids[x.Event] = true
			}
		}
		return ids
	}
	waitFor(t, "the events of four runs", func() error {
		if n := len(events()); n != 4 {
			return fmt.Errorf("%d events", n)
		}
		return nil
	})
	before := events()

	// All but the first and the last message are lost.
	d := l.desk(t)
	stream := l.stream(t, d, subject.Events)
	var sequences []uint64
	require.NoError(t, direct.All(t.Context(), d.Cluster.Conn, direct.Request{Stream: subject.Events, Filter: subject.Event("prod", "web1")}, func(m *direct.Message) error {
		sequences = append(sequences, m.Sequence)
		return nil
	}))
	for _, s := range sequences[1 : len(sequences)-1] {
		deleteMessage(t, stream, s)
	}
	waitFor(t, "all replicas to have lost them", func() error {
		if n := len(events()); n >= 4 {
			return fmt.Errorf("%d events", n)
		}
		return nil
	})
	stdout, _, status := l.ccm("fleet", "check")
	require.Equal(t, 4, status)
	require.Contains(t, stdout, "CCM_EVENTS has gaps in the events of: web1\n  request the missing events with: ccm fleet events --fill\n")

	stdout, stderr, status := l.ccm("fleet", "events", "--fill", "--sign", key)
	require.Zero(t, status, stderr)
	require.Regexp(t, fmt.Sprintf(`(?m)^web1 +%d +20.* resent 8 lines of 4 runs`, len(sequences)-2), stdout)
	waitFor(t, "the events to be back", func() error {
		if n := len(events()); n != 4 {
			return fmt.Errorf("%d events", n)
		}
		return nil
	})
	require.Equal(t, before, events())
	_, stderr, status = l.ccm("fleet", "events", "--fill", "web1", "--sign", key)
	require.Zero(t, status)
	require.Contains(t, stderr, "No gaps in the event stream.")
	stdout, _, _ = l.ccm("fleet", "check")
	require.NotContains(t, stdout, "gaps")

	// An environment that does not exist is an error.
	_, stderr, status = l.ccm("fleet", "events", "--fill", "--environment", "nope")
	require.NotZero(t, status)
	require.Contains(t, stderr, `no such environment "nope"`)
}
