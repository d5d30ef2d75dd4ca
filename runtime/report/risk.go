package report

import (
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A risk is how much attention a planned change deserves: the lower, the more.
type risk int

const (
	riskFailure risk = iota
	riskPackageRemoval
	riskRemoval
	riskStop // something that runs is stopped or restarted
	riskRefresh
	riskUnknown
	riskUpdate
	riskCreation
	riskNone
)

// riskOf returns the risk of what is planned for a resource. That of an unknown one is the risk of
// its forecast, if this is higher.
func riskOf(e *event.Event) risk {
	switch e.Outcome {
	case event.Failed:
		return riskFailure
	case event.Unknown:
		if f := e.Forecast; f != nil && f.Outcome == event.Pending {
			return min(riskUnknown, riskOfActions(e, f.Diff, f.Actions))
		}
		return riskUnknown
	case event.Stable, event.Skipped:
		return riskNone
	}
	diff, actions := e.Planned()
	return riskOfActions(e, diff, actions)
}

func riskOfActions(e *event.Event, diff []resource.Delta, actions []resource.Action) risk {
	isGone := slices.ContainsFunc(diff, func(x resource.Delta) bool { return x.Property == "ensure" && resource.IsAbsent(x.Want) })
	does := func(verbs ...string) bool {
		return slices.ContainsFunc(actions, func(a resource.Action) bool { return slices.Contains(verbs, a.Verb) })
	}
	switch {
	case does("Uninstall", "Downgrade"):
		return riskPackageRemoval
	case isGone:
		return riskRemoval
	case does("Stop", "Restart", "Mask"):
		return riskStop
	case e.Refreshed:
		return riskRefresh
	case isNew(diff):
		return riskCreation
	}
	return riskUpdate
}
