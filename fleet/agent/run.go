package agent

import (
	"encoding/json"
	"time"
)

// A Mode is the mode of a run.
type Mode string

// The modes of runs.
const (
	Apply Mode = "run"          // converge the machine
	Plan  Mode = "plan"         // only plan
	Check Mode = "health check" // only run the health checks
)

// A Request is a request for runs.
type Request struct {
	// ID names the request for observers, such as the ID of a job; "" for none.
	ID string
	// Reason is the reason in words: "the interval is over".
	Reason string
	Mode   Mode
	// Source is the name of the source; "" for all.
	Source string
	// Targets are resources in the syntax of --target; nil for all.
	Targets []string
}

// A Run is one run of one source.
type Run struct {
	Request
	Site  Site
	Began time.Time
}

// A Result is the result of a run.
type Result struct {
	Source string `json:"source"`
	Mode   Mode   `json:"mode"`
	Reason string `json:"reason"`
	Digest string `json:"digest,omitempty"`
	// RunID is the ID of the run in ccm history; "" if it could not begin.
	RunID    string        `json:"run_id,omitempty"`
	Began    time.Time     `json:"began"`
	Duration time.Duration `json:"took"`
	// Exit is the exit status of ccm: 0, 1 if it could not begin, 4 if a resource failed, 130 if
	// it was interrupted, -1 if it was killed.
	Exit int `json:"exit"`
	// Counts are the numbers of resources by outcome, Health the numbers of checks by status.
	Counts map[string]int `json:"counts,omitempty"`
	Health map[string]int `json:"health_checks,omitempty"`
	// Failures are the first failed resources, with reasons.
	Failures []Failure `json:"failed,omitempty"`
	// Error is the reason why the run could not begin or end properly.
	Error string `json:"error,omitempty"`
	// Interrupted is set if the run was ended early.
	Interrupted bool `json:"interrupted,omitempty"`
	// DataStale is since when external data could not be fetched; nil if it could.
	DataStale *time.Time `json:"data_stale,omitempty"`
	// Summary is the last line of the run's report (io.choria.ccm.v1.session.summary); nil if
	// there was none.
	Summary json.RawMessage `json:"-"`

	unregistered  []string // log lines about its services
	failedByCheck bool     // a resource failed because of a health check
}

// A Failure is a failed resource.
type Failure struct {
	Resource string `json:"resource"`
	Message  string `json:"message"`
}

// mostFailures is the largest number of failures in a result.
const mostFailures = 5

// OK reports whether the run succeeded.
func (r *Result) OK() bool { return r.Exit == 0 }

// An Observer is notified of runs by the goroutine that runs them. It must be quick.
type Observer interface {
	// RunBegins is called before a run.
	RunBegins(r *Run)
	// RunLine is called with each line of ccm run --output json, without its end. The line is
	// valid only during the call.
	RunLine(r *Run, line []byte)
	// RunEnded is called after a run.
	RunEnded(r *Run, result *Result)
}
