package forecast

import (
	"context"
	"errors"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// RecordStatusError sets the outcome of a resource whose Status or Decide has failed. In a plan a pending resource may be the
// reason: then the event is unknown.
func (f *Forecaster) RecordStatusError(ctx context.Context, provider *resource.Binding, ev *event.Event, err error) {
	err = ev.Resource.ExplainMissing(err)
	if _, ok := errors.AsType[*host.RootError](err); ok { // whatever is pending
		ev.Outcome, ev.Err = event.Failed, err
		return
	}
	if f.planning || ev.Resource.IsOnlyPlanned() {
		if u, ok := errors.AsType[*resource.UnknownError](err); ok {
			recordUnknown(ev, u.Reason)
			f.assumeMayAct(ev, nil)
			return
		}
	}
	f.suspects.failing = true
	defer func() { f.suspects.failing = false }()
	if ev.Resource.IsOnlyPlanned() && len(f.onlyPlanned) > 0 { // the effects of resources that are only planned are not in the view
		f.blame(ctx, nil, ev, mergeSuspects(latestFirst(f.onlyPlanned), f.suspects.of(ev.Index, f.looks)))
		ev.Forecast = &event.Forecast{Outcome: event.Failed, Err: err}
		return
	}
	suspects := f.suspects.of(ev.Index, f.looks)
	if len(suspects) == 0 {
		ev.Outcome, ev.Err = event.Failed, err
		return
	}
	d, caveat, hopeful, certain := f.decideAsIfPresent(ctx, provider, ev)
	if certain != nil {
		ev.Outcome, ev.Err = event.Failed, ev.Resource.ExplainMissing(certain)
		return
	}
	f.blame(ctx, provider, ev, suspects)
	if !hopeful {
		switch from, ok := f.decideFromNothing(ctx, ev); {
		case ok:
			ev.Forecast = f.forecastOf(ctx, ev, from, false)
			ev.Forecast.MayExist = true
		case !f.looks.IsVague(): // a vague path may have looked like another kind of thing
			ev.Forecast = &event.Forecast{Outcome: event.Failed, Err: err}
		}
		f.assumeMayAct(ev, nil)
		return
	}
	f.forecastWithCaveat(ctx, ev, d, caveat, true)
}

// latestFirst returns resources as suspects, the last resource as the surest.
func latestFirst(list []int) (suspects []suspect) {
	for _, k := range slices.Backward(list) {
		if len(suspects) < mostSuspects {
			suspects = append(suspects, suspect{k, map[bool]rank{true: fits, false: mayBe}[len(suspects) == 0]})
		}
	}
	return suspects
}

// RecordProviderError is RecordStatusError for a resource without a provider: the resource that installs
// the provider's commands may be pending.
func (f *Forecaster) RecordProviderError(ctx context.Context, ev *event.Event, err error) {
	if !f.planning {
		return
	}
	f.suspects.failing = true
	defer func() { f.suspects.failing = false }()
	looks := new(overlay.Looks)
	f.view.Recording(looks).Overlay().RecordLook(overlay.ProgramLook, ev.Resource.Type.Name, false)
	if suspects := f.suspects.of(ev.Index, looks); len(suspects) > 0 {
		ev.Err = nil
		f.blame(ctx, nil, ev, suspects)
		ev.Forecast = &event.Forecast{Outcome: event.Failed, Err: err}
		f.assumeMayAct(ev, nil)
	}
}

// forecastFailure records that the actions of a resource are going to fail, or that the outcome
// is unknown because a pending resource may prevent the failure.
func (f *Forecaster) forecastFailure(ctx context.Context, provider *resource.Binding, d resource.Decision, ev *event.Event, err error) {
	if !f.planning {
		ev.Outcome, ev.Err = event.Failed, err
		return
	}
	f.suspects.failing = true
	defer func() { f.suspects.failing = false }()
	suspects := f.suspects.of(ev.Index, f.looks)
	if errors.Is(err, overlay.ErrNeedsRoot) { // a command of this user cannot give the right, unless it has to do with the path
		suspects = slices.DeleteFunc(suspects, func(x suspect) bool { return x.rank == mayBe })
	}
	if len(suspects) == 0 {
		ev.Outcome, ev.Err = event.Failed, err
		return
	}
	f.blame(ctx, provider, ev, suspects)
	f.forecast(ctx, ev, d, true)
}

// decideAsIfPresent decides about a resource as if the missing things were there that suspects
// may provide, with the caveat of the provider. An error means that the resource would fail even then.
func (f *Forecaster) decideAsIfPresent(ctx context.Context, provider *resource.Binding, ev *event.Event) (d resource.Decision, caveat string, ok bool, err error) {
	r := ev.Resource
	looks := f.newLooks()
	looks.Grant = func(l overlay.Look, doubts []any) bool {
		return f.suspects.mayProvide(ev.Index, l) || slices.ContainsFunc(doubts, f.isPending)
	}
	v := f.view.Recording(looks)
	state, err := provider.Status(ctx, v, r.Spec)
	if err == nil {
		if d = r.Type.Decide(r.Spec, state, false); d.Err == nil {
			if caveat, err = f.askProvider(ctx, v, ev.Index, provider); err == nil {
				return d, caveat, true, nil
			}
		}
		if d.Err != nil {
			err = d.Err
		}
	}
	if len(f.suspects.of(ev.Index, looks)) == 0 {
		return d, "", false, err
	}
	if d, ok := r.Type.DecideFresh(v, r.Spec); ok && d.Err == nil {
		caveat, _ = f.askProvider(ctx, v, ev.Index, provider)
		return d, caveat, true, nil
	}
	return d, "", false, nil
}
