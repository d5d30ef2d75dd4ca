package cli

import (
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/runtime/state"
)

// Protocol has the fields that are not masked in the JSON of events and of earlier runs.
var Protocol = sync.OnceValue(func() *secret.Protocol {
	return secret.NewProtocol(append(slices.Clone(report.FixedFields), "path", "object", "kind", "run", "resource", "root", "site"),
		report.Event{}, report.Output{}, report.Summary{}, state.Record{}, state.PendingRecord{}, session.Entry{}, report.Response{}, PathDiff{})
})

// A PathDiff is the change of one path in JSON.
type PathDiff struct {
	state.Change
	Text string `json:"text,omitempty"`
	Note string `json:"note,omitempty"`
}
