package event

import "github.com/luaccm/ccm/runtime/resource"

// A Forecast is what would become of a resource that is unknown.
type Forecast struct {
	// Outcome is Stable, Pending or Failed.
	Outcome Outcome
	// Once says that the forecast holds once the missing things are there; otherwise it holds
	// for the present state.
	Once bool
	// MayExist says that the thing to create may exist by then.
	MayExist bool
	// Refresh says that it holds if something that the resource subscribes to changes.
	Refresh bool
	Diff    []resource.Delta
	Actions []resource.Action
	Text    *resource.TextChange
	Err     error
}
