package overview

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/roster"
)

// Failed nodes are listed before new ones, so that a page shows them however many nodes are new.
func TestByStatus(t *testing.T) {
	now := time.Now()
	node := func(name string, s *record.State) *Node {
		return &Node{Node: &roster.Node{Name: name, State: s, HeartbeatTime: now}}
	}
	nginx := []record.Failure{{Resource: "service#nginx", Message: "exit status 1"}}
	list := []*Node{
		node("a-new", nil), node("b-stable", &record.State{Outcome: "stable"}), node("c-changed", &record.State{Outcome: "changed"}),
		node("d-failed", &record.State{Outcome: "failed", Failures: nginx}),
		node("e-full", &record.State{Outcome: "stable", Problems: []record.Problem{{Code: record.BundleError, Message: "no space left"}}}),
		{Node: &roster.Node{Name: "f-silent", State: &record.State{Outcome: "stable"}}},
	}
	var names []string
	for _, n := range ByStatus(list, now) {
		names = append(names, n.Name)
	}
	require.Equal(t, []string{"d-failed", "e-full", "f-silent", "c-changed", "a-new", "b-stable"}, names)
	require.Equal(t, "a-new", list[0].Name, "the list itself is not changed")
}
