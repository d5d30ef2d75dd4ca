package main

import (
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/runtime/state"
)

// protocol is what is not masked in the JSON of events and of the past.
var protocol = sync.OnceValue(func() *secret.Protocol {
	return secret.NewProtocol(append(slices.Clone(report.FixedFields), "path", "object", "kind", "run", "resource", "root", "site"),
		report.Event{}, report.Output{}, report.Summary{}, state.Record{}, state.PendingRecord{}, session.Entry{}, report.Response{}, pathDiff{})
})

// A pathDiff is the change of one path as programs read it.
type pathDiff struct {
	state.Change
	Text string `json:"text,omitempty"`
	Note string `json:"note,omitempty"`
}
