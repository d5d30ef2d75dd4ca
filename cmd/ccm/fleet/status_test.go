package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/signed"
)

// On a small terminal environments are shortened, so that failures are visible.
func TestFleetStatusFits(t *testing.T) {
	f := &overview.Fleet{Nodes: 12}
	for _, name := range []string{"prod", "test", "lab"} {
		f.Environments = append(f.Environments, overview.Environment{Name: name, Nodes: 4, Outcomes: []overview.Count{{Name: "failed", N: 2}},
			Releases: []overview.Release{{Version: 7, N: 4}},
			Rollout: &release.Assessment{Release: 7, State: signed.Stopped, Reason: "2 failed, limit 0", Stage: 1,
				Stages: []release.Stage{{Name: "canary"}, {Name: "10%"}, {Name: "100%"}}}})
	}
	for i := range 6 {
		f.Causes = append(f.Causes, overview.Cause{Resource: fmt.Sprintf("service#s%d", i), Message: strings.Repeat("broken ", 30), Nodes: []string{"a", "b"}})
	}
	for rows := 3; rows < 60; rows++ {
		lines := statusLines(f, time.Now(), 60, rows)
		require.LessOrEqual(t, len(lines), max(rows, 4), "%d rows:\n%s", rows, strings.Join(lines, "\n"))
		text := strings.Join(lines, "\n")
		require.Contains(t, text, "last failures", "%d rows", rows)
		if rows >= 9 {
			require.Contains(t, text, "service#s0", "%d rows", rows)
			require.Contains(t, text, "prod  4 nodes: 2 failed", "%d rows", rows)
		}
		for _, l := range lines {
			require.LessOrEqual(t, len([]rune(l)), 60)
		}
	}
	t.Log("\n" + strings.Join(statusLines(f, time.Now(), 70, 9), "\n"))
	all := strings.Join(statusLines(f, time.Now(), 0, 0), "\n")
	require.Contains(t, all, "service#s5")
	require.Contains(t, all, "release 7 on 4")
	require.NotContains(t, all, "more")
}

// A node counts as silent only after the job has expired.
func TestJobRow(t *testing.T) {
	sent := time.Date(2026, 11, 26, 3, 10, 0, 0, time.UTC)
	p := &job.SentJob{Job: &signed.Job{Count: 3}, Progress: &job.Progress{Done: 2, Silent: []string{"web3"}}}
	p.Expires = sent.Add(10 * time.Minute)
	last := func(now time.Time) string { row := jobRow(p, now); return row[len(row)-1] }
	require.Equal(t, "2 ok, 0 failed, 0 refused, 1 no response yet", last(sent))
	require.Equal(t, "2 ok, 0 failed, 0 refused, 1 silent", last(p.Expires))
}

// A fleet without nodes says how machines become nodes; one with nodes does not.
func TestFleetStatusWithoutNodes(t *testing.T) {
	f := &overview.Fleet{Environments: []overview.Environment{{Name: "prod"}}}
	text := strings.Join(statusLines(f, time.Now(), 0, 0), "\n")
	require.Contains(t, text, "\nprod  0 nodes\n")
	require.Contains(t, text, "ccm agent enrol")
	f.Nodes, f.Environments[0].Nodes = 1, 1
	require.NotContains(t, strings.Join(statusLines(f, time.Now(), 0, 0), "\n"), "enrol")
}
