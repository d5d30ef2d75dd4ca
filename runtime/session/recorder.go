package session

import (
	"time"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Recorder writes what a run does to a session.
type Recorder struct {
	s     *Session
	runID string
	diff  report.DiffMode
	now   func() time.Time
	err   error
}

var _ converge.Reporter = (*Recorder)(nil)

// Recorder returns a reporter for a run.
func (s *Session) Recorder(runID string, diff report.DiffMode, now func() time.Time) *Recorder {
	return &Recorder{s: s, runID: runID, diff: diff, now: now}
}

// Begin implements converge.Reporter: before anything is changed, that is said.
// A process that dies in the middle would otherwise take with it that what
// subscribes is to be refreshed.
func (r *Recorder) Begin(x *resource.Resource, _, _ int) {
	r.append(Record{Event: report.Event{
		Protocol: beginProtocol, Timestamp: r.now().UTC(), Type: x.ID.Type, Name: x.ID.Name, Alias: x.Common.Alias,
	}})
}

// Event implements converge.Reporter.
func (r *Recorder) Event(e *converge.Event) {
	rec := Record{Event: report.EventOf(e, r.runID, r.diff)}
	rec.Text = "" // the properties that differ are enough for a report
	for _, ref := range e.Resource.Common.Subscribe {
		rec.Subscribe = append(rec.Subscribe, ref.String())
	}
	r.append(rec)
}

func (r *Recorder) append(record Record) {
	if err := r.s.Append(record); err != nil && r.err == nil {
		r.err = err
	}
}

// Err returns the first error of writing to the session.
func (r *Recorder) Err() error { return r.err }
