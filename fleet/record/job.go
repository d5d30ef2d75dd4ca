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
	Failed   []Failure `json:"failed,omitempty"`
}

// DecodeJobResult reads a line of the events of a node. A line about something else gives ok false.
func DecodeJobResult(line []byte) (r JobResult, ok bool) {
	if json.Unmarshal(line, &r) != nil || r.Protocol != JobProtocol {
		return JobResult{}, false
	}
	return r, true
}
