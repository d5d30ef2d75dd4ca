package studio

import (
	"encoding/json"
	"net/http"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/studio/guard"
)

// serveRuns answers GET /api/runs.
func (s *Server) serveRuns(w http.ResponseWriter, r *http.Request) {
	lines, end := s.jobs.ask(r.Context(), nil, "history", "--output", "json", "--limit", "200", "--state-dir", s.options.StateDir)
	out := Runs{Runs: []PastRun{}}
	for _, line := range lines {
		var run struct{ Summary *report.Summary }
		_ = json.Unmarshal(line, &run) // a run with an unreadable summary is listed without one
		out.Runs = append(out.Runs, PastRun{Run: line, Parts: sharesOf(run.Summary)})
	}
	if err := end.asError(); err != nil {
		out.Error = err.Error()
	}
	guard.Reply(w, http.StatusOK, out)
}

// sharesOf returns the bar of a summary, which may be nil, and its counts in words.
func sharesOf(summary *report.Summary) []*markup.Element {
	if summary == nil {
		return []*markup.Element{}
	}
	counts := part.Counts(summary, false)
	return []*markup.Element{part.Bar(counts), part.Legend(counts)}
}

// runID matches the id of a run.
var runID = lazyregexp.New(`^[0-9A-Za-z_.-]{1,100}$`)

// serveRun answers GET /api/runs/{id}.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !runID().MatchString(id) {
		fail(w, http.StatusBadRequest, Failure{Error: diag.NotFound("run", "", nil).Error()})
		return
	}
	lines, end := s.jobs.ask(r.Context(), nil, "history", "show", "--output", "json", "--state-dir", s.options.StateDir, "--", id)
	if len(lines) == 0 {
		err := end.asError()
		if err == nil {
			err = refuse(http.StatusNotFound, "", diag.NotFound("run", "", nil).Error())
		}
		respond(w)(nil, err)
		return
	}
	respond(w)(runOf(id, lines[0]))
}

// runOf returns the answer for a record in the form of ccm history show.
func runOf(id string, line json.RawMessage) (any, error) {
	var record struct {
		Summary *report.Summary
		Events  []json.RawMessage
	}
	if err := json.Unmarshal(line, &record); err != nil {
		return nil, err
	}
	out := RunAnswer{ID: id, Events: []ResourceEvent{}}
	s := report.Summary{}
	var events []report.Event
	for _, text := range record.Events {
		var e report.Event
		if json.Unmarshal(text, &e) == nil && e.Outcome != "" { // other outcomes are of a later version
			events = append(events, e)
		}
	}
	report.LimitTexts(events)
	for i := range events {
		out.Events = append(out.Events, resourceEvent(&events[i]))
	}
	s.CountAgain(events)
	out.Parts = sharesOf(&s)
	var head map[string]json.RawMessage
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, err
	}
	delete(head, "events")
	text, err := json.Marshal(head)
	out.Run = text
	return out, err
}

// resourceEvent returns an event in the form for pages.
func resourceEvent(e *report.Event) ResourceEvent {
	return ResourceEvent{Type: e.Type, Name: e.Name, Outcome: e.Outcome, Story: e.Story(false), Row: part.Row(e, part.RowOptions{})}
}
