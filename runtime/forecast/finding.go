package forecast

import (
	"context"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Finding is the result of looking at the resource whose turn it is.
type Finding struct {
	Decision resource.Decision
	// Refresh is the decision with a refresh. It is nil unless an unknown resource may cause a
	// refresh and the decision would then be another.
	Refresh *resource.Decision
	// Joins is the first resource of the transaction that the decision joins, or the resource
	// itself if there is no transaction. Pending members of that transaction are performed
	// together with the resource, so they are no suspects.
	Joins int
}

// CloseIfUncertain makes the event unknown if a pending resource may change the finding, and failed if the
// decision is an error. It reports whether the outcome is set. The event gets the reason and the
// forecast.
func (f *Forecaster) CloseIfUncertain(ctx context.Context, provider *resource.Binding, ev *event.Event, x Finding) bool {
	d, i := x.Decision, ev.Index
	if installers, removed := f.pendingInstallersAndRemovers(i); len(installers) > 0 && d.Err == nil && installers[0].index < x.Joins {
		f.blameInstallers(ctx, provider, ev, d, installers, removed)
		return true
	}
	if lost := f.lostBefore(i); len(lost) > 0 && len(d.Actions) > 0 {
		f.blame(ctx, provider, ev, mergeSuspects(lost, f.suspects.of(i, f.looks)))
		f.forecast(ctx, ev, d, false)
		return true
	}
	if d.Err != nil {
		ev.Diff = d.Diff
		f.RecordStatusError(ctx, provider, ev, d.Err)
		return true
	}
	if f.looks != nil && !(ev.Refreshed && resource.TraitsOf(ev.Resource.Spec).IsUncertain) && f.blameSuspects(ctx, provider, ev, x) {
		return true
	}
	if x.Refresh == nil || !d.Stable() {
		return false
	}
	f.blameDirect(ctx, provider, ev, f.suspects.refreshing(i))
	f.forecastRefresh(ctx, ev, *x.Refresh, true)
	return true
}

// blameSuspects makes the event unknown if a pending resource may have changed the finding, and
// reports whether it did. The event gets the reason and the forecast.
func (f *Forecaster) blameSuspects(ctx context.Context, provider *resource.Binding, ev *event.Event, x Finding) bool {
	d, i := x.Decision, ev.Index
	suspects := mergeSuspects(f.suspects.bringers(i, d.Effects), f.suspects.of(i, f.looks))
	if len(suspects) == 0 || d.Stable() && x.Refresh == nil && f.isAmongEntries(ev.Resource, suspects, false) {
		return false
	}
	var caveat string
	if len(d.Actions) > 0 { // the actions depend on more looks
		caveat, _ = f.askProvider(ctx, f.view.Recording(f.looks), i, provider)
		suspects = mergeSuspects(suspects, f.suspects.of(i, f.looks))
	}
	if x.Refresh != nil {
		f.blameDirect(ctx, provider, ev, mergeSuspects(f.suspects.refreshing(i), suspects))
	} else {
		f.blame(ctx, provider, ev, suspects)
	}
	if x.Refresh != nil && d.Stable() {
		f.forecastRefresh(ctx, ev, *x.Refresh, false)
	} else {
		f.forecastWithCaveat(ctx, ev, d, caveat, false)
	}
	return true
}

// PlanActions makes the event pending if the actions are expected to succeed. Then it adds their
// effects to the view and returns true. Otherwise the event becomes unknown or failed, with the
// reason. V is the view of the walk.
func (f *Forecaster) PlanActions(ctx context.Context, v *host.View, provider *resource.Binding, d resource.Decision, ev *event.Event) bool {
	v = f.Recording(v)
	caveat, err := f.askProvider(ctx, v, ev.Index, provider)
	for _, c := range d.Programs {
		if err == nil {
			err = v.CheckProgram(ctx, c)
		}
	}
	if err == nil {
		err = v.Overlay().Permits(d.Effects...)
	}
	if err == nil {
		err = host.CheckMounts(v, d.Effects...)
	}
	if err == nil {
		var notes []string
		notes, err = host.Obstacles(v, d.Effects...)
		caveat = event.JoinRemarks(strings.Join(notes, ", "), caveat)
	}
	var suspects []suspect
	if err == nil && f.looks != nil && !f.looks.IsEmpty() {
		suspects = f.suspects.of(ev.Index, f.looks)
	}
	if err == nil && len(suspects) == 0 && d.Uncertain == "" {
		ev.Outcome, ev.Reason = event.Pending, event.JoinRemarks(ev.Reason, event.JoinRemarks(f.precedence(ev.Index), caveat))
		f.assume(ev, d)
		return true
	}
	ev.Actions, ev.Diff, ev.Text = nil, nil, nil
	switch {
	case err != nil:
		f.forecastFailure(ctx, provider, d, ev, err)
	case len(suspects) > 0:
		f.blame(ctx, provider, ev, suspects)
		f.forecastWithCaveat(ctx, ev, d, caveat, false)
	default:
		ev.Cause = event.NoCause
		recordUnknown(ev, d.Uncertain)
		f.forecastWithCaveat(ctx, ev, d, caveat, false)
	}
	return false
}

// precedence names the pending resources that resource i requires and that change more than known
// paths: none of it makes a difference to the outcome, and the site says that they come first. It is
// "" if there are none, and outside of a plan.
func (f *Forecaster) precedence(i int) string {
	if !f.planning {
		return ""
	}
	var names []string
	for _, d := range f.catalog.Deps[i] {
		if f.outcomes[d.Index] == event.Pending && !d.Refresh && (f.suspects.effects.byIndex[d.Index] != nil || host.ChangesAccounts(f.view, d.Index)) {
			names = append(names, f.catalog.Resources[d.Index].ID.String())
		}
	}
	if len(names) > event.MostNamed {
		names = append(names[:event.MostNamed], event.OthersText(len(names)-event.MostNamed))
	}
	if len(names) == 0 {
		return ""
	}
	return "after " + strings.Join(names, ", ")
}
