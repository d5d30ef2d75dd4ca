package agent

import (
	"slices"
	"time"
)

// A FleetStatus is what a machine is in its fleet.
type FleetStatus struct {
	Node        string `json:"node"`
	Environment string `json:"environment"`
	Connected   bool   `json:"connected"`
	// Release is the version of the release that is run; 0 for none.
	Release int64 `json:"release,omitempty"`
	// RevokedAt is since when the servers do not let the node in, and PlansFrom from when it only
	// plans because of that; nil if they do, or it goes on for ever.
	RevokedAt *time.Time `json:"revoked,omitempty"`
	PlansFrom *time.Time `json:"plans_from,omitempty"`
	// LeaveReason is why the node has left the fleet until its agent starts again, and only plans; "" if
	// it has not.
	LeaveReason string         `json:"left,omitempty"`
	Problems    []FleetProblem `json:"problems,omitempty"`
}

// A FleetProblem is something that a node could not do, or did not believe.
type FleetProblem struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
	// Release is the version of the release that could not be taken because of it; 0 for none.
	Release int64 `json:"release,omitempty"`
}

// OK reports whether the machine is in its fleet and takes its releases. Other problems, such as a job that was
// refused once, are told and no more.
func (s *FleetStatus) OK() bool {
	return s.RevokedAt == nil && s.LeaveReason == "" && !slices.ContainsFunc(s.Problems, func(p FleetProblem) bool { return p.Release != 0 })
}

// FleetChanged has the status written with what the fleet says now.
func (a *Agent) FleetChanged() { a.status.update(func(*Status) {}) }
