package node

import (
	"time"

	"github.com/luaccm/ccm/fleet/agent"
)

// Status implements agent.Fleet.
func (n *Node) Status() agent.FleetStatus {
	s := agent.FleetStatus{Node: n.member.identity.Name, Environment: n.member.identity.Environment, LeaveReason: n.presence.whyLeft()}
	s.Release, _ = n.member.memory.taken()
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	s.RevokedAt, s.PlansFrom = moment(n.member.memory.revoked()), moment(n.member.plansFrom())
	s.Connected = n.member.isConnected()
	for _, p := range n.member.problems.list() {
		s.Problems = append(s.Problems, agent.FleetProblem{Code: string(p.Code), Message: p.Message, Since: p.Since, Release: p.Release})
	}
	return s
}
