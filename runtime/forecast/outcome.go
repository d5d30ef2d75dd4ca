package forecast

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// forecast records the forecast of an unknown resource, and adds its possible effects to the
// view.
func (f *Forecaster) forecast(ctx context.Context, ev *event.Event, d resource.Decision, once bool) {
	f.forecastOutcome(ctx, ev, d, once)
	f.assumeMayAct(ev, &d)
}

// forecastWithCaveat is forecast with a remark of the provider about the actions.
func (f *Forecaster) forecastWithCaveat(ctx context.Context, ev *event.Event, d resource.Decision, caveat string, once bool) {
	f.forecast(ctx, ev, d, once)
	if ev.Forecast.Outcome == event.Pending {
		ev.Forecast.Caveat = caveat
	}
}

// forecastOutcome records the forecast of an unknown resource.
func (f *Forecaster) forecastOutcome(ctx context.Context, ev *event.Event, d resource.Decision, once bool) {
	decision, known := f.decideWithoutImagined(ctx, ev)
	fromNothing := known && makesSomething(decision)
	if known && !fromNothing && decision.Stable() && isRemoval(ev.Resource) && len(d.Actions) > 0 {
		once = true // the thing to remove is still to come
	}
	if !fromNothing {
		decision = d
		if len(f.assumedKindUnknown(ev)) > 0 {
			decision.Diff = withoutState(d.Diff)
		}
	}
	ev.Forecast = f.forecastOf(ctx, ev, decision, once)
	ev.Forecast.MayExist = fromNothing || f.mayExist(ev, d)
}

// forecastOf returns the forecast that follows from a decision.
func (f *Forecaster) forecastOf(ctx context.Context, ev *event.Event, d resource.Decision, once bool) *event.Forecast {
	x := &event.Forecast{Outcome: event.Pending, Once: once, Uncertain: d.Uncertain != "", Diff: d.Diff, Actions: d.Actions}
	switch {
	case d.Err != nil:
		x.Outcome, x.Err = event.Failed, d.Err
	case len(d.Actions) == 0:
		x.Outcome = event.Stable
	}
	if f.texts && d.Text != nil {
		if text, err := d.Text(ctx, f.view); err == nil {
			x.Text = &text
		}
	}
	return x
}

// assumedKindUnknown returns the pending resources that will bring something of unknown kind to
// the path of the event's resource. The state found there is imagined.
func (f *Forecaster) assumedKindUnknown(ev *event.Event) map[any]bool {
	name, _, _ := resource.BoundsOf(ev.Resource.Spec)
	if name == "" || f.looks == nil {
		return nil
	}
	return f.looks.Imagined(f.view.Overlay().PathOf(name))
}

// decideFromNothing is decideWithoutImagined, and reports whether the resource would create
// something.
func (f *Forecaster) decideFromNothing(ctx context.Context, ev *event.Event) (d resource.Decision, ok bool) {
	d, known := f.decideWithoutImagined(ctx, ev)
	return d, known && makesSomething(d)
}

func makesSomething(d resource.Decision) bool {
	return d.Err == nil && d.Has("ensure") && len(d.Actions) > 0
}

// isRemoval reports whether a resource is to be absent.
func isRemoval(r *resource.Resource) bool {
	want, ok := r.Spec.(resource.EnsureReporter)
	return ok && resource.IsAbsent(want.WantedEnsure())
}

// decideWithoutImagined decides about a resource at whose path something of unknown kind will
// stand, as if that were not there. It reports whether it could decide.
func (f *Forecaster) decideWithoutImagined(ctx context.Context, ev *event.Event) (d resource.Decision, ok bool) {
	by := f.assumedKindUnknown(ev)
	if len(by) == 0 {
		return d, false
	}
	r := ev.Resource
	provider, err := f.provider(r)
	if err != nil {
		return d, false
	}
	state, err := provider.Status(ctx, f.view.Without(by).Recording(f.newLooks()), r.Spec)
	if err != nil {
		return d, false
	}
	return r.Type.Decide(r.Spec, state, false), true
}

// WithoutImagined returns the view without what pending resources will bring to the path of a spec if nothing is there now
// and its kind is unknown: of that, owner and mode would be invented.
func (f *Forecaster) WithoutImagined(v *host.View, spec any) *host.View {
	name, _, _ := resource.BoundsOf(spec)
	if name == "" || !f.planning || len(f.unsettled) == 0 {
		return v
	}
	looks := new(overlay.Looks)
	looking := v.Recording(looks)
	_, _ = looking.Lstat(name)
	if by := looks.Imagined(looking.Overlay().PathOf(name)); len(by) > 0 {
		return v.Without(by)
	}
	return v
}

// withoutState returns differences without the state that was found, except that of ensure.
func withoutState(diff []resource.Delta) []resource.Delta {
	diff = slices.Clone(diff)
	for i := range diff {
		if diff[i].Property != "ensure" {
			diff[i].Have = ""
		}
	}
	return diff
}

// mayExist reports whether the thing to create may exist by the time of the run.
func (f *Forecaster) mayExist(ev *event.Event, d resource.Decision) bool {
	paths, _ := managedBy(ev.Resource)
	if len(paths) == 0 || !d.Has("ensure") || isRemoval(ev.Resource) {
		return false
	}
	look := overlay.Look{Kind: overlay.PathLook, Name: f.view.Overlay().PathOf(paths[0])}
	for x := range f.suspects.effects.matching(look, true) {
		if !x.bringsNot(look.Name) {
			return true
		}
	}
	a := f.suspects.ancestorsOf(ev.Index)
	return a.installsFiles && (len(a.unsettled) == mostSuspects || slices.ContainsFunc(a.unsettled, func(k int) bool {
		x := f.suspects.effects.byIndex[k]
		return x != nil && x.installsFiles && !x.bringsNot(look.Name)
	}))
}
