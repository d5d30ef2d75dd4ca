package node

import (
	"cmp"
	"slices"
	"time"

	"github.com/luaccm/ccm/fleet/agent"
)

// Status implements agent.Fleet.
func (n *Node) Status() agent.FleetStatus {
	s := agent.FleetStatus{Node: n.identity.Name, Environment: n.identity.Environment, Left: n.whyLeft()}
	s.Release, _ = n.memory.taken()
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	s.Revoked, s.PlansFrom = moment(n.memory.revoked()), moment(n.plansFrom())
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Connected = n.nc != nil && n.nc.IsConnected()
	for _, p := range n.problems {
		s.Problems = append(s.Problems, agent.FleetProblem{Code: string(p.Code), Message: p.Message, Since: p.Since, Release: p.Release})
	}
	slices.SortFunc(s.Problems, func(a, b agent.FleetProblem) int { return cmp.Compare(a.Code, b.Code) })
	return s
}
