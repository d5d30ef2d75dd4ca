package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/markup"
)

// Nodes with a failure or a problem are on the page, however many nodes are new, and their failure is shown.
func TestNodesThatFailedAreOnThePage(t *testing.T) {
	now := time.Now()
	var list []*overview.Node
	add := func(name string, s *record.State) {
		list = append(list, &overview.Node{Node: &roster.Node{Name: name, State: s, HeartbeatTime: now}})
	}
	for i := range maxRows {
		add(fmt.Sprintf("new%d", i), nil)
	}
	add("web1", &record.State{Outcome: "failed", Failures: []record.Failure{{Resource: "service#nginx", Message: "exit status 1\nmore"}}})
	add("web2", &record.State{Outcome: "stable", Problems: []record.Problem{{Code: record.BundleError, Message: "no space left\nmore"}}})
	text, err := json.Marshal(nodes(list, now))
	require.NoError(t, err)
	page := string(text)
	for _, want := range []string{`service#nginx: exit status 1"`, string(record.BundleError) + `: no space left"`, `"2 more: ",["code",{},"ccm fleet nodes"]`} {
		require.True(t, strings.Contains(page, want), want)
	}
	require.Less(t, strings.Index(page, "web1"), strings.Index(page, "web2"))
	require.Less(t, strings.Index(page, "web2"), strings.Index(page, "new0"))
}

// What an operator at night looks for is said, in words and colours, and one node is no nodes.
func TestPagesSayWhatIsWrong(t *testing.T) {
	now := time.Now()
	silent := &overview.Node{Node: &roster.Node{Name: "web1", State: &record.State{Outcome: "failed", Release: 3, StartTime: now.Add(-50 * time.Hour)}, HeartbeatTime: now.Add(-time.Hour)}}
	e := overview.Environment{Name: "prod", Nodes: 1, Outcomes: []overview.Count{{Name: "silent", N: 1}}, Problem: "prod.release on the servers is not believed",
		Rollout: &release.Assessment{Release: 3, State: signed.Stopped, Reason: "1 failed, limit 0", Stages: []release.Stage{{Name: "100%", Nodes: 1, Failed: 1, Done: 1}},
			SignedBy: []author.Signer{{Name: "ops@example.org"}}, Note: "CVE-2026-1234", Problems: []string{"prod.release on the servers is not believed"}}}
	page := func(e *markup.Element) string {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		return string(text)
	}
	first := page(whole(&overview.Fleet{Time: now, Nodes: 1, Environments: []overview.Environment{e}, List: []*overview.Node{silent}}))
	for _, want := range []string{`"1 node"`, `"of 1 node"`, `{"class":"o failed"},"stopped"`, `{"class":"wrong"},"prod.release`, "silent, was failed", "2 days ago", "60 min ago"} {
		require.Contains(t, first, want)
	}
	require.NotContains(t, first, "1 nodes")
	second := page(rollout(&e))
	for _, want := range []string{"ops@example.org", "CVE-2026-1234", `{"class":"wrong"},"prod.release`, "ccm fleet rollback prod", "1 of 1"} {
		require.Contains(t, second, want)
	}
}

// A fleet without nodes says how machines become nodes, and an environment without a release how it gets one.
func TestPagesOfNewFleet(t *testing.T) {
	page := func(e *markup.Element) string {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		return string(text)
	}
	first := page(whole(&overview.Fleet{Environments: []overview.Environment{{Name: "prod"}}}))
	require.Contains(t, first, `["code",{},"ccm agent enrol"]`)
	require.Contains(t, first, `["code",{},"ccm fleet enrol"]`)
	require.NotContains(t, first, "`")
	require.Contains(t, page(rollout(&overview.Environment{Name: "prod"})), `["code",{},"ccm fleet release prod SITE"]`)
	require.Contains(t, page(rollout(&overview.Environment{Name: "prod", Problem: "not believed"})), `{"class":"wrong"},"not believed"`)
}

// The link of a failure on the page of a release leads to its nodes, also if the message has several lines.
func TestFailureOfSeveralLines(t *testing.T) {
	state := &record.State{Failures: []record.Failure{{Resource: "exec#x", Message: "exit code 3\nmore"}}}
	f := &overview.Fleet{Causes: overview.Causes([]*overview.Node{{Node: &roster.Node{Name: "web1", State: state}}})}
	for _, message := range []string{"exit code 3", "exit code 3\nmore"} {
		text, err := json.Marshal(failure(f, "exec#x", message))
		require.NoError(t, err)
		require.Contains(t, string(text), "Nodes: 1")
	}
}
