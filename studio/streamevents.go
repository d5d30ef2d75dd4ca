package studio

import (
	"encoding/json"

	"github.com/luaccm/ccm/runtime/markup"
)

// A PlanEvent is what a plan says of one resource. Event of the stream: plan.
type PlanEvent struct {
	Job   string        `json:"job"`
	Event ResourceEvent `json:"event"`
	// Bar is the share of each outcome so far.
	Bar *markup.Element `json:"bar"`
}

// A ResourceEvent is what became of a resource, or would.
type ResourceEvent struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Story   string `json:"story"` // in one line
	// Row is all of it, as reports show it.
	Row *markup.Element `json:"row"`
}

// A PlanEnd ends a job. Event of the stream: plan-end.
type PlanEnd struct {
	Job string `json:"job"`
	// Status is done, failed, cancelled or timeout.
	Status   string `json:"status"`
	Exit     int    `json:"exit"`
	Messages string `json:"messages,omitempty"` // what the command said on stderr, without terminal codes
	Duration int64  `json:"duration"`           // milliseconds
	// Cut is whether events were left out, as there were too many.
	Cut bool `json:"cut,omitempty"`
}

// A TestEnd ends the job of a test. Event of the stream: test-end.
type TestEnd struct {
	Job      string          `json:"job"`
	Status   string          `json:"status"`
	Exit     int             `json:"exit"`
	Results  json.RawMessage `json:"results,omitempty"` // as ccm test --output json prints them, a list
	Messages string          `json:"messages,omitempty"`
	Duration int64           `json:"duration"`
}

// A DiskEvent says what became of a file on the disk.
type DiskEvent struct {
	File string `json:"file"`
	Disk string `json:"disk"`
}
