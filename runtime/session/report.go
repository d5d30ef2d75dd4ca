package session

import (
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Report is what the processes of a session did.
type Report struct {
	// Events are in the order in which they were told.
	Events []report.Event
	// Summary counts them.
	Summary converge.Summary
	// Failed says that a resource is not in order: the last event of it says that
	// it failed, or was skipped because of something that failed.
	Failed bool
}

// Report sums the session up.
func (s *Session) Report() (Report, error) {
	records, err := s.Records()
	if err != nil {
		return Report{}, err
	}
	var out Report
	latest := make(map[resource.ID]Record)
	for i, r := range records {
		if i == 0 {
			out.Summary.Start = r.Timestamp
		}
		if !r.Noop {
			latest[resource.ID{Type: r.Type, Name: r.Name}] = r
		}
		if r.begun() {
			continue
		}
		out.Events = append(out.Events, r.Event)
		out.Summary.Add(report.Restore(r.Event))
		out.Summary.Took += r.Duration
		out.Summary.Noop = r.Noop && (out.Summary.Noop || len(out.Events) == 1)
	}
	for _, r := range latest {
		o := outcome(r, false)
		out.Failed = out.Failed || o == converge.Failed || o == converge.Skipped
	}
	return out, nil
}
