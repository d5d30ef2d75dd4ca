package studio

import (
	"encoding/json"

	"github.com/luaccm/ccm/runtime/markup"
)

// A PlanEvent is the outcome of one resource in a plan. Event of the stream: plan.
type PlanEvent struct {
	Job   string        `json:"job"`
	Event ResourceEvent `json:"event"`
	// Bar shows the shares of the outcomes so far.
	Bar *markup.Element `json:"bar"`
}

// A ResourceEvent is the outcome of a resource in a plan or a run.
type ResourceEvent struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Story   string `json:"story"` // the outcome in one line
	// Row is the resource with all details, as in reports.
	Row *markup.Element `json:"row"`
}

// A PlanEnd is the end of a plan. Event of the stream: plan-end.
type PlanEnd struct {
	Job string `json:"job"`
	// Status is done, failed, cancelled or timeout.
	Status   string `json:"status"`
	Exit     int    `json:"exit"`
	Messages string `json:"messages,omitempty"` // stderr of the command, with control characters escaped
	Duration int64  `json:"duration"`           // milliseconds
	// Cut is set if there were too many events, and some were left out.
	Cut bool `json:"cut,omitempty"`
}

// A TestEnd is the end of a test. Event of the stream: test-end.
type TestEnd struct {
	Job      string          `json:"job"`
	Status   string          `json:"status"`
	Exit     int             `json:"exit"`
	Results  json.RawMessage `json:"results,omitempty"` // list of the results that ccm test --output json prints
	Messages string          `json:"messages,omitempty"`
	Duration int64           `json:"duration"`
}

// A DiskEvent is the state of an open file on the disk, as State.Disk. Event of the stream: disk.
type DiskEvent struct {
	File string `json:"file"`
	Disk string `json:"disk"`
}
