package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/resource"
)

// EventOf returns the JSON form of an event.
func EventOf(e *event.Event, runID string, diff DiffMode) Event {
	out := EventWithoutText(e, runID)
	if f := out.Forecast; f != nil && diff == DiffOff {
		f.Diff = nil
	} else if f != nil && e.Forecast.Text != nil {
		f.Text, _ = Unified(*e.Forecast.Text)
	}
	switch {
	case diff == DiffOff:
		out.Diff = nil
	case e.Text != nil:
		out.Text, _ = Unified(*e.Text)
	}
	return out
}

// EventWithoutText is EventOf without the diff of a text.
func EventWithoutText(e *event.Event, runID string) Event {
	r := e.Resource
	out := Event{
		Protocol: EventProtocol, EventID: eventID(runID, e.Index), Timestamp: e.Start.UTC(),
		Type: r.ID.Type, Name: r.ID.Name, Alias: r.Common.Alias, Provider: e.Provider, Position: r.Pos.String(),
		FinalEnsure: e.Ensure, Duration: e.Duration, Outcome: e.Outcome.String(),
		Changed: e.Outcome == event.Changed || e.Outcome == event.Pending, Refreshed: e.Refreshed,
		Failed: e.Outcome == event.Failed, Ignored: e.Outcome == event.Failed && !e.Fails(), Skipped: e.Outcome == event.Skipped, Noop: e.Noop,
		Reason: e.Reason, Diff: e.Diff, RefreshedBy: ids(e.RefreshedBy), UnmetRequirements: ids(e.Unmet),
	}
	out.Requires, out.Subscribes, out.OrderMore = orderOf(e)
	for _, tag := range r.Common.Tags {
		out.Tags = append(out.Tags, tag.String())
	}
	if e.Outcome == event.Unknown || e.Uncertain {
		out.Because, out.BecauseMore, out.Forecast = becauseOf(e), e.BecauseMore, forecastOf(e)
	}
	if e.Uncertain {
		out.Certain = new(bool)
	}
	if e.Cause != event.NoCause {
		out.Reason, out.Caveat = e.Cause.String(), e.Reason
	}
	for _, d := range e.PendingRefreshes {
		out.PendingRefresh = append(out.PendingRefresh, PendingRefresh{By: d.By.String(), RunID: d.Run})
	}
	if w, ok := r.Spec.(resource.EnsureReporter); ok {
		out.RequestedEnsure = w.WantedEnsure()
	}
	if out.Message = Message(e); e.Noop {
		out.NoopMessage, out.Message = out.Message, ""
	}
	if e.Err != nil {
		out.Errors = []string{e.Err.Error()}
	}
	if e.Command != nil {
		out.ExitCode, out.Stdout, out.Stderr = &e.Command.Code, lastOf(e.Command.Stdout), lastOf(e.Command.Stderr)
	}
	for _, h := range e.Health {
		out.HealthChecks = append(out.HealthChecks, HealthCheck{h.Name, h.State.String(), h.Output, h.Tries, h.Duration})
	}
	return out
}

// orderLimit is the largest number of resources in requires and subscribes.
const orderLimit = 1000

// orderOf returns the names of the resources that a resource comes after.
func orderOf(e *event.Event) (requires, subscribes []string, more int) {
	deps := e.Deps
	if len(deps) > orderLimit {
		deps, more = deps[:orderLimit], len(deps)-orderLimit
	}
	for _, d := range deps {
		if name := e.Catalog.Resources[d.Index].ID.String(); d.Refresh {
			subscribes = append(subscribes, name)
		} else {
			requires = append(requires, name)
		}
	}
	return requires, subscribes, more
}

// outputLimit is the number of bytes of a command's output in an event.
const outputLimit = 64 << 10

// lastOf returns the end of an output, and says how much is left out before it.
func lastOf(out []byte) string {
	cut := len(out) - outputLimit
	if cut <= 0 {
		return string(out)
	}
	return fmt.Sprintf("[%d bytes omitted]\n%s", cut, strings.ToValidUTF8(string(out[cut:]), ""))
}

// eventID returns the ID of the run with the number of the event, in at least six digits.
func eventID(runID string, index int) string {
	digits := strconv.Itoa(index)
	return runID + "-" + "000000"[min(len(digits), 6):] + digits
}

func ids(list []resource.ID) []string {
	var out []string
	for _, id := range list {
		out = append(out, id.String())
	}
	return out
}

// SummaryOf returns the JSON form of a summary.
func SummaryOf(s event.Summary, runID string) Summary {
	out := Summary{
		Protocol: SummaryProtocol, RunID: runID, StartTime: s.Start.UTC(), Duration: s.Duration, Total: s.Total(),
		Stable: s.Of(event.Stable), Changed: s.Of(event.Changed), Pending: s.Of(event.Pending),
		Unknown: s.Of(event.Unknown), Skipped: s.Of(event.Skipped), Failed: s.Of(event.Failed), Ignored: s.Ignored,
		Refreshed: s.Refreshed, Noop: s.Noop, Interrupted: s.Interrupted, Undeclared: s.Undeclared,
	}
	if r := s.Registrations; r.Published+r.Unpublished+len(r.Problems) > 0 {
		out.Registrations = &Registrations{Published: r.Published, Unpublished: r.Unpublished}
		for _, p := range r.Problems {
			out.Registrations.Problems = append(out.Registrations.Problems, RegistrationProblem{p.Resource.String(), p.Service, p.Err.Error()})
		}
	}
	for _, d := range s.DroppedRefreshes {
		out.DroppedRefreshes = append(out.DroppedRefreshes, PendingRefresh{d.To.String(), d.By.String(), d.Run})
	}
	for _, state := range health.States {
		if n := s.Health[state]; n > 0 {
			if out.Health == nil {
				out.Health = make(map[string]int)
			}
			out.Health[state.String()] = n
		}
	}
	return out
}
