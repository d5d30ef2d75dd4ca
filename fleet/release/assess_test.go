package release_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
)

var now = time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)

func share(t *testing.T, text string) signed.Share {
	s, err := signed.ParseShare(text)
	require.NoError(t, err)
	return s
}

// fleet returns a canary and 19 other nodes, all of which run release 41.
func fleet() []*roster.Node {
	var nodes []*roster.Node
	for i := range 20 {
		labels := map[string]string{"role": "web"}
		if i == 0 {
			labels["role"] = "canary"
		}
		nodes = append(nodes, &roster.Node{
			Name: fmt.Sprintf("node%02d", i), HeartbeatTime: now.Add(-10 * time.Second),
			State: &record.State{Environment: "prod", Release: 41, RunID: "r1", Outcome: "stable", Labels: labels},
		})
	}
	return nodes
}

func canary(t *testing.T) (*signed.Release, *signed.Rollout) {
	r := &signed.Release{
		Header: signed.Header{Environment: "prod", CreateTime: now.Add(-time.Hour)}, Version: 42, Stages: []string{`labels.role == "canary"`, "50%", "100%"},
		Soak: signed.Duration(10 * time.Minute), MaxFailed: share(t, "10%"), MaxSilent: share(t, "5%"),
	}
	return r, &signed.Rollout{Version: 1, Release: 42, State: signed.Rolling, Since: now.Add(-time.Minute)}
}

func took(n *roster.Node, stage int, outcome string, failed ...record.Failure) {
	s := *n.State
	s.Release, s.Stage, s.Outcome, s.RunID, s.Failures = 42, stage, outcome, "r2", failed
	n.State = &s
}

// A rollout waits for its nodes, soaks, and passes to the next stage; after the last stage it is finished.
func TestRollout(t *testing.T) {
	r, ro := canary(t)
	nodes := fleet()
	at := now
	var verdicts []release.Verdict
	for range 40 {
		a := release.Assess(r, ro, nodes, at)
		verdicts = append(verdicts, a.Verdict)
		switch a.Verdict {
		case release.Wait:
			for i, n := range nodes {
				for s := range a.Stages[:ro.Stage+1] {
					for _, name := range a.Stages[s].WaitingNodes {
						if name == n.Name {
							took(nodes[i], s+1, "changed")
						}
					}
				}
			}
		case release.Soak:
			at = a.SoakUntil
			for _, n := range nodes {
				n.HeartbeatTime = at
			}
		}
		next := a.Next(ro, at)
		if next != nil {
			require.Equal(t, ro.Version+1, next.Version)
			ro = next
		}
		if a.Verdict == release.Finish {
			break
		}
	}
	stage := []release.Verdict{release.Wait, release.Settle, release.Soak}
	want := append(append(append([]release.Verdict{}, stage...), release.Pass), stage...)
	want = append(append(append(want, release.Pass), stage...), release.Finish)
	require.Equal(t, want, verdicts)
	require.Equal(t, signed.Done, ro.State)
	require.Equal(t, release.Rest, release.Assess(r, ro, nodes, at).Verdict)
}

// Too many failures stop a stage at once, and the assessment has the causes.
func TestStopsOnFailures(t *testing.T) {
	r, ro := canary(t)
	nodes := fleet()
	took(nodes[0], 1, "failed", record.Failure{Resource: "service#nginx", Message: "exit status 1"})
	a := release.Assess(r, ro, nodes, now)
	require.Equal(t, release.Stop, a.Verdict)
	require.Equal(t, "1 failed, limit 0 (10%)", a.Reason)
	require.Equal(t, []release.Cause{{Resource: "service#nginx", Message: "exit status 1", Nodes: []string{"node00"}}}, a.Causes)
	require.Equal(t, signed.Stopped, a.Next(ro, now).State)
}

// A node that cannot take the release, for example because its disk is full, counts as failed. A report about another
// release does not count, even if it came just before.
func TestBlockedNodesFail(t *testing.T) {
	r, ro := canary(t)
	r.Bundle = "sha256:42"
	nodes := fleet()
	problem := record.Problem{Code: record.BundleError, Message: "no space left on device", Since: now}
	for _, c := range []struct {
		release int64
		bundle  string
		blocks  bool
	}{
		{42, "sha256:42", true},
		{42, "", true}, // from its rollout
		{42, "sha256:41", false},
		{41, "sha256:42", false},
		{0, "", false}, // from a job
	} {
		problem.Release, problem.Bundle = c.release, c.bundle
		nodes[0].State.Problems = []record.Problem{problem}
		a := release.Assess(r, ro, nodes, now)
		require.Equal(t, c.blocks, a.Verdict == release.Stop, "%+v", c)
		if c.blocks {
			require.Equal(t, "bundle_error", a.Causes[0].Resource)
			continue
		}
		require.Equal(t, release.Wait, a.Verdict)
	}
}

// Silent nodes are waited for until the end of soaking; then too many of them stop the rollout.
func TestSilentNodes(t *testing.T) {
	r, ro := canary(t)
	nodes := fleet()
	nodes[0].HeartbeatTime = now.Add(-10 * time.Minute)
	a := release.Assess(r, ro, nodes, now)
	require.Equal(t, release.Settle, a.Verdict)
	require.Equal(t, []string{"node00"}, a.Stages[0].SilentNodes)
	ro = a.Next(ro, now)
	require.Equal(t, release.Soak, release.Assess(r, ro, nodes, now).Verdict)
	later := now.Add(10 * time.Minute)
	a = release.Assess(r, ro, nodes, later)
	require.Equal(t, release.Stop, a.Verdict)
	require.Equal(t, "1 silent, limit 0 (5%)", a.Reason)

	r.MaxSilent = share(t, "1")
	require.Equal(t, release.Pass, release.Assess(r, ro, nodes, later).Verdict)
}

// A node stays in the stage in which it took the release, even if its labels change.
func TestStageIsKept(t *testing.T) {
	r, ro := canary(t)
	nodes := fleet()
	took(nodes[0], 1, "changed")
	nodes[0].State.Labels = map[string]string{"role": "web"}
	a := release.Assess(r, ro, nodes, now)
	require.Equal(t, 1, a.Stages[0].Done)
	require.Equal(t, 1, a.Stages[0].Nodes)
}

// A paused, stopped or aborted rollout rests.
func TestRests(t *testing.T) {
	r, ro := canary(t)
	for _, state := range []signed.RolloutState{signed.Paused, signed.Stopped, signed.Aborted, signed.Done} {
		ro.State = state
		a := release.Assess(r, ro, fleet(), now)
		require.Equal(t, release.Rest, a.Verdict)
		require.Nil(t, a.Next(ro, now))
	}
}

// Percentages are rounded the same everywhere: 2 % of 912 are 18.
func TestLimits(t *testing.T) {
	require.Equal(t, 18, share(t, "2%").Of(912))
}

// A stage none of whose nodes was ever heard of proves nothing: the rollout waits for one of them. The last stage is for all that
// come later.
func TestStageNeverHeardOf(t *testing.T) {
	r, ro := canary(t)
	r.Soak, r.Stages = 0, []string{`node in ["node00", "node01"]`, "100%"}
	nodes := fleet()
	forget := func(list ...*roster.Node) {
		for _, n := range list {
			n.State, n.HeartbeatTime = nil, time.Time{}
		}
	}
	forget(nodes[0], nodes[1])
	a := release.Assess(r, ro, nodes, now)
	require.Equal(t, []int{2, 2}, []int{a.Stages[0].Nodes, a.Stages[0].Unheard})
	require.Equal(t, release.Wait, a.Verdict)
	require.Contains(t, a.Reason, "no node of this stage has ever reported")
	require.Nil(t, a.Next(ro, now))
	nodes[0].State = &record.State{Environment: "prod"}
	took(nodes[0], 1, "changed")
	require.Equal(t, release.Settle, release.Assess(r, ro, nodes, now).Verdict, "one of them has run the release")
	ro.Stage = 1
	forget(nodes...)
	require.Equal(t, release.Settle, release.Assess(r, ro, nodes, now).Verdict, "the last stage")
	ro.Stage = 0
	require.Equal(t, release.Settle, release.Assess(r, ro, nil, now).Verdict, "no nodes are approved for the stage")
}

// Nodes that were never heard of are counted, but no rollout waits for them or stops because of them, and they are not in the
// numbers of which shares are.
func TestNodesNeverHeardOf(t *testing.T) {
	r, ro := canary(t)
	r.Soak, r.MaxFailed = 0, share(t, "10%")
	nodes := fleet()
	for i := range 4 {
		nodes = append(nodes, &roster.Node{Name: fmt.Sprintf("off%d", i), Environment: "prod"})
	}
	all := func(a *release.Assessment) (n int) {
		for _, s := range a.Stages {
			n += s.Nodes
		}
		return n
	}
	for range 20 {
		a := release.Assess(r, ro, nodes, now)
		require.Equal(t, 24, all(a))
		require.ElementsMatch(t, []string{"off0", "off1", "off2", "off3"}, a.Unheard())
		if a.Verdict == release.Rest {
			break
		}
		for s := range a.Stages[:ro.Stage+1] {
			for _, n := range nodes {
				if slices.Contains(a.Stages[s].WaitingNodes, n.Name) {
					took(n, s+1, "changed")
				}
			}
		}
		if next := a.Next(ro, now); next != nil {
			ro = next
		}
	}
	require.Equal(t, signed.Done, ro.State)

	// 2 of the 20 nodes that run may fail, whatever the number of those that do not.
	one := &signed.Release{Version: 42, Stages: []string{"100%"}, MaxFailed: share(t, "10%")}
	ro = &signed.Rollout{Version: 1, Release: 42, State: signed.Rolling}
	for i := range 20 {
		nodes = append(nodes, &roster.Node{Name: fmt.Sprintf("more%d", i), Environment: "prod"})
	}
	for i := range 3 {
		took(nodes[i], 1, "failed")
	}
	a := release.Assess(one, ro, nodes, now)
	require.Equal(t, "3 failed, limit 2 (10%)", a.Reason)

	// One that has begun is a node as any other.
	nodes[len(nodes)-1].HeartbeatTime = now
	require.Contains(t, release.Assess(one, ro, nodes, now).Stages[0].WaitingNodes, "more19")
}
