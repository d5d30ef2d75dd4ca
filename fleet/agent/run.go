package agent

import (
	"encoding/json"
	"time"
)

// A Mode is what is done with a site.
type Mode string

// The modes of runs.
const (
	Apply Mode = "run"          // the machine is made as the site describes it
	Plan  Mode = "plan"         // it is only said what would be done
	Check Mode = "health check" // only the health checks are asked
)

// A Request asks for runs.
type Request struct {
	// ID names the request for observers, such as that of a job; "" for none.
	ID string
	// Reason is why, in words: "the interval is over".
	Reason string
	Mode   Mode
	// Source is the name of the source; "" for all of them.
	Source string
	// Targets are resources as --target takes them; nil for all.
	Targets []string
}

// A Run is one run of one source, as it begins.
type Run struct {
	Request
	Site  Site
	Began time.Time
}

// A Result is what became of a run.
type Result struct {
	Source string `json:"source"`
	Mode   Mode   `json:"mode"`
	Reason string `json:"reason"`
	Digest string `json:"digest,omitempty"`
	// RunID is the name of the run, as ccm history has it; "" if it could not begin.
	RunID    string        `json:"run_id,omitempty"`
	Began    time.Time     `json:"began"`
	Duration time.Duration `json:"took"`
	// Exit is the exit status of ccm: 0, 1 if it could not begin, 4 if a resource failed, 130 if
	// it was interrupted, -1 if it was killed.
	Exit int `json:"exit"`
	// Counts are how many resources came to each outcome, Health how many checks to each status.
	Counts map[string]int `json:"counts,omitempty"`
	Health map[string]int `json:"health_checks,omitempty"`
	// Failures are the first resources that failed, with why.
	Failures []Failure `json:"failed,omitempty"`
	// Error is why it could not begin, or not end as it should.
	Error string `json:"error,omitempty"`
	// Interrupted says that it was ended before its time.
	Interrupted bool `json:"interrupted,omitempty"`
	// DataStale is since when external data could not be had; nil if it could.
	DataStale *time.Time `json:"data_stale,omitempty"`
	// Summary is the last line of the run as it came (io.choria.ccm.v1.session.summary); nil if
	// there was none.
	Summary json.RawMessage `json:"-"`

	unregistered  []string // what is told of services after it
	failedByCheck bool     // a resource has failed because of a health check
}

// A Failure is a resource that failed.
type Failure struct {
	Resource string `json:"resource"`
	Message  string `json:"message"`
}

// mostFailures is how many failures a result has.
const mostFailures = 5

// OK reports whether the run did what it should.
func (r *Result) OK() bool { return r.Exit == 0 }

// An Observer is told of runs, by the goroutine that runs them: what takes long belongs into
// another one.
type Observer interface {
	// RunBegins is called before a run.
	RunBegins(r *Run)
	// RunLine is called with each line of ccm run --output json, without its end. The line is only
	// valid until it returns.
	RunLine(r *Run, line []byte)
	// RunEnded is called after a run.
	RunEnded(r *Run, result *Result)
}
