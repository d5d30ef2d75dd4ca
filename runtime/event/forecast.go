package event

import "github.com/luaccm/ccm/runtime/resource"

// A Forecast is the likely outcome of an unknown resource.
type Forecast struct {
	// Outcome is Stable, Pending or Failed.
	Outcome Outcome
	// Once says that the forecast applies as soon as the missing objects exist; otherwise it applies
	// to the present state.
	Once bool
	// MayExist says that the object to create may exist by then.
	MayExist bool
	// Refresh says that the forecast applies if a resource changes to which this one subscribes.
	Refresh bool
	Diff    []resource.Delta
	Actions []resource.Action
	Text    *resource.TextChange
	Err     error
}
