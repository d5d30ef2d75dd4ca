package record

import (
	"encoding/json"
	"time"
)

// JobProtocol is the protocol of a node's messages about jobs.
const JobProtocol = "io.choria.ccm.v1.job.result"

// A JobState is the state of a job on a node.
type JobState string

// The states of a job.
const (
	JobAccepted JobState = "accepted"
	JobRefused  JobState = "refused"
	JobExpired  JobState = "expired"
	JobDone     JobState = "done"
)

// A JobResult is a node's message about a job, among its events.
type JobResult struct {
	Protocol string    `json:"protocol"`
	Time     time.Time `json:"timestamp"`
	Job      string    `json:"job"`
	State    JobState  `json:"state"`
	Reason   string    `json:"reason,omitempty"` // a word for programs, of a refusal
	Message  string    `json:"message,omitempty"`
	RunID    string    `json:"run_id,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Counts   Counts    `json:"counts,omitzero"`
	Failures []Failure `json:"failed,omitempty"`
	// Since and Until limit the runs, by their beginning, whose events were sent again.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// NumberHeader is the header with the number of a message among the event messages of its node: a
// gap shows that messages were lost.
const NumberHeader = "Ccm-Number"

// runTime is the layout at the beginning of a run's id: when the run began, by the clock of its
// machine.
const runTime = "20060102T150405.000000Z"

// RunTime returns when a run began, according to its id.
func RunTime(id string) (time.Time, bool) {
	if len(id) < len(runTime) {
		return time.Time{}, false
	}
	t, err := time.Parse(runTime, id[:len(runTime)])
	return t, err == nil
}

// DecodeJobResult reads a line of the events of a node. For a line about another thing ok is false.
func DecodeJobResult(line []byte) (r JobResult, ok bool) {
	if json.Unmarshal(line, &r) != nil || r.Protocol != JobProtocol {
		return JobResult{}, false
	}
	return r, true
}
