package fleet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
)

// says writes the facts, the state and a heartbeat of a node.
func (l *lab) says(t *testing.T, n *nodeIdentity, s record.State, facts map[string]any) {
	t.Helper()
	conn := l.dial(t, n)
	put := func(bucket, key string, text []byte, err error) {
		t.Helper()
		require.NoError(t, err)
		_, err = direct.Publish(t.Context(), conn, subject.KV(bucket, key), text)
		require.NoError(t, err)
	}
	s.Node, s.Environment, s.Time, s.Version = n.Name, n.Environment, time.Now(), "1.0"
	text, err := s.Encode()
	put(subject.Nodes, subject.StateKey(n.Name), text, err)
	text, err = record.Facts{Node: n.Name, Time: time.Now(), Facts: facts}.Encode()
	put(subject.Nodes, subject.FactsKey(n.Name), text, err)
	text, err = record.Presence{Boot: "b", Version: "1.0", StartTime: time.Now()}.Encode()
	put(subject.Presence, subject.PresenceKey(n.Name), text, err)
}

// fewNodes makes five nodes, two of which have failed, and one is silent.
func fewNodes(t *testing.T, l *lab) {
	debian, rocky := map[string]any{"os": map[string]any{"family": "debian"}}, map[string]any{"os": map[string]any{"family": "rhel"}}
	started := time.Date(2026, 11, 22, 3, 10, 0, 0, time.UTC)
	nginx := []record.Failure{{Resource: "service#nginx", Message: "exit status 1"}}
	l.says(t, l.addNode(t, "web1", "prod"), record.State{Outcome: "stable", StartTime: started, Release: 42, Labels: map[string]string{"role": "web"}}, debian)
	l.says(t, l.addNode(t, "web2", "prod"), record.State{Outcome: "failed", StartTime: started, Release: 42, Failures: nginx, Labels: map[string]string{"role": "web"}}, debian)
	l.says(t, l.addNode(t, "web3", "prod"), record.State{Outcome: "failed", StartTime: started, Release: 41, Failures: nginx, Skew: 7200}, rocky)
	l.says(t, l.addNode(t, "db1", "test"), record.State{Outcome: "changed", StartTime: started, Release: 7, Problems: []record.Problem{{Code: record.BundleError, Message: "\x1b[31mno space left"}}}, rocky)
	l.addNode(t, "new1", "test")
}

// TestOnlyServerRestarts: what nodes have written is there after a restart of the only server, and nothing has to be made again.
func TestOnlyServerRestarts(t *testing.T) {
	l := newLabOf(t, 1)
	fewNodes(t, l)
	before := l.must(t, "fleet", "nodes", "--output", "json")
	require.Contains(t, before, `"presence":{`)
	for range 2 {
		l.killAll()
		l.startAll(t)
		waitFor(t, "the nodes", func() error {
			out, stderr, status := l.ccm("fleet", "nodes", "--output", "json")
			if status != 0 || strings.Count(out, `"presence":{`) != strings.Count(before, `"presence":{`) {
				return fmt.Errorf("status %d: %s%s", status, out, stderr)
			}
			return nil
		})
		require.Empty(t, l.must(t, "fleet", "init", l.dir, "--apply", "-n"))
	}
}

func TestNodes(t *testing.T) {
	l := newLab(t)
	fewNodes(t, l)
	// The environment in a node's own state does not count: db1 is a node of test.
	liar := l.addNode(t, "liar", "test")
	conn := l.dial(t, liar)
	state, err := record.State{Node: "liar", Environment: "prod", Outcome: "stable"}.Encode()
	require.NoError(t, err)
	_, err = direct.Publish(t.Context(), conn, subject.KV(subject.Nodes, "liar.state"), state)
	require.NoError(t, err)
	_, err = direct.Publish(t.Context(), conn, subject.KV(subject.Nodes, "liar.facts"), []byte("{"))
	require.NoError(t, err)

	stdout, stderr, status := l.ccm("fleet", "nodes")
	require.Zero(t, status, stderr)
	t.Log("\n" + stdout)
	require.Contains(t, stderr, "6 of 6 nodes")
	require.Contains(t, stdout, "service#nginx: exit status 1  clock 2h0m0s")
	require.Regexp(t, `new1 +test +never +- +new`, stdout)
	for condition, want := range map[string]string{
		`state.outcome == "failed"`:                                "web2 web3",
		`facts.os.family == "debian" && state.outcome == "failed"`: "web2",
		`labels.role == "web"`:                                     "web1 web2",
		`environment == "prod"`:                                    "web1 web2 web3",
		`node startsWith "db" && seen < duration("1m")`:            "db1",
		`seen > duration("3m")`:                                    "liar new1",
		`state.release == 42`:                                      "web1 web2",
	} {
		require.Equal(t, want, strings.Join(strings.Fields(l.must(t, "fleet", "nodes", "--where", condition, "--output", "names")), " "), condition)
	}
	require.Equal(t, "db1\nliar\nnew1\n", l.must(t, "fleet", "nodes", "--environment", "test", "--output", "names"))
	_, stderr, status = l.ccm("fleet", "nodes", "--where", "state.outcome ==")
	require.NotZero(t, status)
	require.Contains(t, stderr, "--where")

	first, _, _ := strings.Cut(l.must(t, "fleet", "nodes", "--where", `node == "web2"`, "--output", "json"), "\n")
	var line struct {
		Node  string
		State record.State
		Facts map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(first), &line))
	require.Equal(t, "failed", line.State.Outcome)
	require.Equal(t, map[string]any{"family": "debian"}, line.Facts["os"])
	require.Contains(t, l.must(t, "fleet", "nodes", "web3"), "outcome: failed")
	_, stderr, _ = l.ccm("fleet", "nodes", "web9")
	require.Contains(t, stderr, "no node web9 in the fleet")

	status1 := l.must(t, "fleet", "status")
	t.Log("\n" + status1)
	require.Contains(t, status1, "prod  3 nodes: 2 failed, 1 stable")
	require.Contains(t, status1, "release 42 on 2, release 41 on 1")
	require.Contains(t, status1, "    2  service#nginx (web2 web3): exit status 1")
	require.NotContains(t, status1, "\x1b", "text of a node is no command to the terminal")

	stdout, _, status = l.ccm("fleet", "check")
	t.Log("\n" + stdout)
	require.Equal(t, 4, status)
	require.Contains(t, stdout, "! silent nodes: liar\n")
	require.Contains(t, stdout, "! approved nodes that never connected: new1\n")
	require.Contains(t, stdout, "! bundle_error: db1")
	require.Contains(t, stdout, "nodes whose clocks are off by more than five minutes: web3")
	l.kill(l.ports[1])
	waitFor(t, "what check says of a server that is gone", func() error {
		if stdout, _, _ = l.ccm("fleet", "check"); !strings.Contains(stdout, "! server 127.0.0.1-"+l.ports[1]+" does not respond") {
			return fmt.Errorf("it says %s", stdout)
		}
		return nil
	})
	require.Contains(t, l.must(t, "fleet", "nodes"), "web1", "two of three servers are enough")
	for _, revoked := range []string{"web1"} {
		l.must(t, "fleet", "revoke", revoked)
		require.NotContains(t, l.must(t, "fleet", "nodes", "--output", "names"), revoked)
	}
	complete := l.must(t, "__complete", "fleet", "nodes", "w")
	require.Contains(t, complete, "web2")
	require.Contains(t, l.must(t, "__complete", "fleet", "nodes", "--environment", ""), "prod")
	hold(t, l)
}

// hold keeps a fleet for inspection as long as the file exists that CCM_FLEET_HOLD names.
func hold(t *testing.T, l *lab) {
	file := os.Getenv("CCM_FLEET_HOLD")
	if file == "" {
		return
	}
	require.NoError(t, os.WriteFile(file, []byte(filepath.Clean(l.dir)+"\n"+binary+"\n"), 0o600))
	for {
		if _, err := os.Stat(file); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}
