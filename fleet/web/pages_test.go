package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/roster"
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
	for _, want := range []string{`service#nginx: exit status 1"`, string(record.BundleError) + `: no space left"`, "2 more: ccm fleet nodes lists them all"} {
		require.True(t, strings.Contains(page, want), want)
	}
	require.Less(t, strings.Index(page, "web1"), strings.Index(page, "web2"))
	require.Less(t, strings.Index(page, "web2"), strings.Index(page, "new0"))
}
