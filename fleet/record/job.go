package record

import (
	"encoding/json"
	"time"
)

// JobProtocol is that of what nodes tell of jobs.
const JobProtocol = "io.choria.ccm.v1.job.result"

// A JobState is what became of a job on a node.
type JobState string

// The states of a job.
const (
	JobAccepted JobState = "accepted"
	JobRefused  JobState = "refused"
	JobExpired  JobState = "expired"
	JobDone     JobState = "done"
)

// A JobResult is what a node tells of a job, among its events.
type JobResult struct {
	Protocol string    `json:"protocol"`
	Time     time.Time `json:"timestamp"`
	Job      string    `json:"job"`
	State    JobState  `json:"state"`
	Reason   string    `json:"reason,omitempty"` // a word for programs, if it is refused
	Message  string    `json:"message,omitempty"`
	RunID    string    `json:"run_id,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Counts   Counts    `json:"counts,omitzero"`
	Failures []Failure `json:"failed,omitempty"`
	// Since and Until are between which times the runs began whose events were told again.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// NumberHeader is the header of a message with events that has its number among those of its node: a gap shows
// that some were lost.
const NumberHeader = "Ccm-Number"

// runTime is how the id of a run begins: when it began, by the clock of its machine.
const runTime = "20060102T150405.000000Z"

// RunTime returns when a run began, by its id.
func RunTime(id string) (time.Time, bool) {
	if len(id) < len(runTime) {
		return time.Time{}, false
	}
	t, err := time.Parse(runTime, id[:len(runTime)])
	return t, err == nil
}

// DecodeJobResult reads a line of the events of a node. A line about something else gives ok false.
func DecodeJobResult(line []byte) (r JobResult, ok bool) {
	if json.Unmarshal(line, &r) != nil || r.Protocol != JobProtocol {
		return JobResult{}, false
	}
	return r, true
}
