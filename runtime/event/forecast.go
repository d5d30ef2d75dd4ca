package event

import "github.com/luaccm/ccm/runtime/resource"

// A Forecast is the likely outcome of an unknown resource.
type Forecast struct {
	// Outcome is Stable, Pending or Failed.
	Outcome Outcome
	// Once is set if the forecast applies as soon as the missing objects exist; otherwise it applies
	// to the present state.
	Once bool
	// MayExist is set if the object to create may exist already.
	MayExist bool
	// Refresh is set if the forecast applies only after a change of a resource to which this one subscribes.
	Refresh bool
	// Uncertain is set if the actions themselves may turn out to change nothing.
	Uncertain bool
	Diff      []resource.Delta
	Actions   []resource.Action
	Text      *resource.TextChange
	// Caveat is why the actions may fail or turn out otherwise.
	Caveat string
	Err    error
}
