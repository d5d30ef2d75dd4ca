package ccm

import (
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
)

// A Resource is one declared thing, with its position in the script or manifest. File is empty if
// it was not declared in one; Line and Column count from 1, in bytes, and 0 is unknown.
type Resource struct {
	Type, Name   string
	File         string
	Line, Column int
}

// String returns the resource as TYPE#NAME; "" if it is the zero Resource.
func (r Resource) String() string {
	if r == (Resource{}) {
		return ""
	}
	return r.Type + "#" + r.Name
}

// An Outcome is what became of a resource. It is the word that the command ccm prints in JSON.
type Outcome string

// The outcomes. A run has Stable, Changed, Skipped and Failed; a plan has Pending and Unknown in place of
// Changed.
const (
	// Stable means that the resource is in its desired state already.
	Stable Outcome = "stable"
	// Changed means that the resource was changed, and is in its desired state now.
	Changed Outcome = "changed"
	// Pending means that a run would change the resource.
	Pending Outcome = "pending"
	// Unknown means that a plan cannot tell whether a run would change the resource: see Event.Reason.
	Unknown Outcome = "unknown"
	// Skipped means that the resource was not looked at: see Event.Reason.
	Skipped Outcome = "skipped"
	// Failed means that the resource is not in its desired state: see Event.Err.
	Failed Outcome = "failed"
)

// A Change is the difference in one property. Have is what was found on the machine, Want what is
// desired, both as reports show them: long texts are shortened, secrets are masked.
type Change struct{ Property, Have, Want string }

// An Event is the outcome of one resource in a run or plan.
type Event struct {
	Resource
	Outcome Outcome
	// Message describes the outcome in one line, such as "Created the file".
	Message string
	// Changes lists the properties that differed before the run.
	Changes []Change
	// Provider is the name of the provider; "" if none was needed.
	Provider string
	// Reason is why the resource was skipped or is unknown.
	Reason string
	// Err is why the resource failed.
	Err error
	// Start and Duration are those of the look and the actions.
	Start    time.Time
	Duration time.Duration

	record *event.Event
}

func newEvent(e *event.Event) Event {
	x := Event{
		Resource: newResource(e.Resource), Outcome: Outcome(e.Outcome.String()), Message: report.Message(e),
		Provider: e.Provider, Reason: e.Reason, Err: e.Err, Start: e.Start, Duration: e.Duration, record: e,
	}
	for _, d := range e.Diff {
		x.Changes = append(x.Changes, Change(d))
	}
	return x
}

// String describes the event in one line: "changed file#/etc/motd: Created the file". It is "" for the zero Event that
// comes with an error.
func (e Event) String() string {
	text := strings.TrimSpace(string(e.Outcome) + " " + e.Resource.String())
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns the event in the form that the command ccm uses. It is valid until the loop goes on, because it is
// reused. It does not follow semantic versions.
func (e Event) Unwrap() *event.Event { return e.record }
