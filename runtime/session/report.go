package session

import (
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// died is the error of an action that began and of which no event tells.
const died = "the process that handled it was killed"

// A Report has the results of a session's processes.
type Report struct {
	// Events are in the order of their reports. A process that died during an action counts as a
	// failure.
	Events []report.Event
	// Summary counts the events.
	Summary event.Summary
	// Failed is set if a resource is not in order: its last event is a failure, or a skip because of a
	// failure.
	Failed bool
}

// Report sums the session up.
func (s *Session) Report() (Report, error) {
	records, err := s.Entries()
	if err != nil {
		return Report{}, err
	}
	var out Report
	unended := deaths(records)
	latest := make(map[resource.ID]Entry)
	for i, r := range records {
		if i == 0 {
			out.Summary.Start = r.Timestamp
		}
		if !r.Noop {
			latest[r.id()] = r
		}
		if unended[i] {
			out.add(r.death())
		} else if !r.isBegin() {
			out.add(r.Event)
		}
	}
	for _, r := range latest {
		o := outcome(r, false)
		out.Failed = out.Failed || o == event.Failed || o == event.Skipped
	}
	return out, nil
}

// deaths tells for each record whether its action did not end: the next record of the resource is
// not the action's event.
func deaths(records []Entry) []bool {
	out := make([]bool, len(records))
	next := make(map[resource.ID]Entry)
	for i, r := range slices.Backward(records) {
		if r.Noop {
			continue
		}
		if r.isBegin() {
			end := next[r.id()]
			out[i] = !end.Changed && !end.Failed
		}
		next[r.id()] = r
	}
	return out
}

// add counts one event.
func (r *Report) add(e report.Event) {
	r.Summary.Noop = e.Noop && (r.Summary.Noop || len(r.Events) == 0)
	r.Events = append(r.Events, e)
	r.Summary.Add(report.Restore(e))
	r.Summary.Duration += e.Duration
}

// death returns the event that a process did not come to tell.
func (r Entry) death() report.Event {
	e := r.Event
	e.Protocol, e.Outcome, e.Failed, e.Errors = report.EventProtocol, event.Failed.String(), true, []string{died}
	return e
}
