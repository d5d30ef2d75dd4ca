package agent

import (
	"slices"
	"time"
)

// A FleetStatus is the status of a machine in its fleet.
type FleetStatus struct {
	Node        string `json:"node"`
	Environment string `json:"environment"`
	Connected   bool   `json:"connected"`
	// Release is the version of the present release; 0 for none.
	Release int64 `json:"release,omitempty"`
	// RevokedAt is when the servers stopped to admit the node, and PlansFrom when it begins to
	// only plan because of that; nil for never.
	RevokedAt *time.Time `json:"revoked,omitempty"`
	PlansFrom *time.Time `json:"plans_from,omitempty"`
	// LeaveReason is the reason why the node has left the fleet, and only plans, until its agent
	// starts again; "" if it has not.
	LeaveReason string         `json:"left,omitempty"`
	Problems    []FleetProblem `json:"problems,omitempty"`
}

// A FleetProblem is something that a node could not do, or refused.
type FleetProblem struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
	// Release is the version of the release that the problem keeps from being used; 0 for none.
	Release int64 `json:"release,omitempty"`
}

// OK reports whether the machine is in its fleet and uses its releases. Other problems, such as a
// refused job, do not count.
func (s *FleetStatus) OK() bool {
	return s.RevokedAt == nil && s.LeaveReason == "" && !slices.ContainsFunc(s.Problems, func(p FleetProblem) bool { return p.Release != 0 })
}

// FleetChanged writes the status with the present status of the fleet.
func (a *Agent) FleetChanged() { a.status.update(func(*Status) {}) }
