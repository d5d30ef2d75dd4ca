package report

import (
	"errors"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/resource"
)

// Restore is the inverse of [EventOf], in the fields that [Text] needs.
func Restore(e Event) *event.Event {
	out := &event.Event{
		Resource: &resource.Resource{
			ID: resource.ID{Type: e.Type, Name: e.Name}, Common: &resource.Common{Alias: e.Alias}, Pos: diag.Pos{File: e.Position},
		},
		Provider: e.Provider, Noop: e.Noop, Diff: e.Diff, Refreshed: e.Refreshed, RefreshedBy: references(e.RefreshedBy),
		Reason: e.Reason, Unmet: references(e.UnmetRequirements), Ensure: e.FinalEnsure, Start: e.Timestamp, Duration: e.Duration,
	}
	for _, o := range event.Outcomes {
		if o.String() == e.Outcome {
			out.Outcome = o
		}
	}
	if out.Cause = event.ParseCause(e.Reason); out.Cause != event.NoCause {
		out.Reason = e.Caveat
	}
	message := e.Message
	if e.Noop {
		message = e.NoopMessage
	}
	if message != "" {
		out.Actions = []resource.Action{resource.ActionOf(message)}
	}
	if len(e.Errors) > 0 {
		out.Err = errors.New(strings.Join(e.Errors, "; "))
	}
	for _, h := range e.HealthChecks {
		for _, s := range health.States {
			if s.String() == h.Status {
				out.Health = append(out.Health, health.Result{Name: h.Name, State: s, Output: h.Output, Tries: h.Tries, Duration: h.Duration})
			}
		}
	}
	return out
}

// references returns the resources with these IDs. It leaves invalid IDs out.
func references(names []string) []resource.ID {
	var out []resource.ID
	for _, name := range names {
		if id, err := resource.ParseID(name); err == nil {
			out = append(out, id)
		}
	}
	return out
}
