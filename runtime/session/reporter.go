package session

import (
	"time"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Reporter writes the events of a run to a session.
type Reporter struct {
	s     *Session
	runID string
	diff  report.DiffMode
	now   func() time.Time
	err   error
}

var _ event.ActionReporter = (*Reporter)(nil)

// Reporter returns a reporter for a run.
func (s *Session) Reporter(runID string, diff report.DiffMode, now func() time.Time) *Reporter {
	return &Reporter{s: s, runID: runID, diff: diff, now: now}
}

// BeforeAction implements event.ActionReporter: it records an action before any change. Otherwise, if the
// process dies meanwhile, the subscribers would not be refreshed.
func (r *Reporter) BeforeAction(x *resource.Resource, _, _ int) {
	r.append(Entry{Event: report.Event{
		Protocol: beginProtocol, Timestamp: r.now().UTC(), Type: x.ID.Type, Name: x.ID.Name, Alias: x.Common.Alias,
	}})
}

// Event implements event.Reporter.
func (r *Reporter) Event(e *event.Event) {
	rec := Entry{Event: report.EventOf(e, r.runID, r.diff)}
	rec.Text = "" // the properties that differ are enough for a report
	for _, ref := range e.Resource.Common.Subscribe {
		rec.Subscribe = append(rec.Subscribe, ref.String())
	}
	r.append(rec)
}

func (r *Reporter) append(record Entry) {
	if err := r.s.Append(record); err != nil && r.err == nil {
		r.err = err
	}
}

// Err returns the first error of writing to the session.
func (r *Reporter) Err() error { return r.err }
