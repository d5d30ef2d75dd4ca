package agent

import "time"

// A FleetStatus is what a machine is in its fleet.
type FleetStatus struct {
	Node        string `json:"node"`
	Environment string `json:"environment"`
	Connected   bool   `json:"connected"`
	// Release is the version of the release that is run; 0 for none.
	Release int64 `json:"release,omitempty"`
	// Revoked is since when the servers do not let the node in, and PlansFrom from when it only
	// plans because of that; nil if they do, or it goes on for ever.
	Revoked   *time.Time `json:"revoked,omitempty"`
	PlansFrom *time.Time `json:"plans_from,omitempty"`
	// Left is why the node has left the fleet until its agent begins anew, and only plans; "" if
	// it has not.
	Left     string         `json:"left,omitempty"`
	Problems []FleetProblem `json:"problems,omitempty"`
}

// A FleetProblem is something that a node could not do, or did not believe.
type FleetProblem struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// OK reports whether the machine is in its fleet, and believes what it is told there.
func (s *FleetStatus) OK() bool { return s.Revoked == nil && s.Left == "" && len(s.Problems) == 0 }

// FleetChanged has the status written with what the fleet says now.
func (a *Agent) FleetChanged() { a.status.update(func(*Status) {}) }
