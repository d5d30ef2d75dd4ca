package forecast

import (
	"context"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// hiddenSuspects adds the suspects that appear once the first ones are taken to do nothing. It
// repeats that until the state is known without them. Such suspects are hidden because an effect
// in the view covers earlier effects on the same path, and because the search for who may make a
// directory ends at the first resource.
func (f *Forecaster) hiddenSuspects(ctx context.Context, provider *resource.Binding, ev *event.Event, suspects []suspect) []suspect {
	if provider == nil || !f.planning {
		return suspects
	}
	without := make(map[any]bool)
	defer func(failing bool) { f.suspects.failing, f.suspects.excluded = failing, nil }(f.suspects.failing)
	for len(suspects) < mostSuspects {
		for _, x := range suspects {
			without[x.index] = true
		}
		if !f.view.Overlay().Assumes(without) {
			return suspects
		}
		looks := f.newLooks()
		err := f.lookThrough(ctx, provider, ev, f.view.Without(without).Recording(looks))
		f.suspects.failing, f.suspects.excluded = err != nil, without
		more := f.suspects.of(ev.Index, looks)
		if len(more) == 0 {
			return suspects
		}
		for _, x := range more {
			if x.rank == fits {
				x.rank = mayBe // it matches a look that the plan does not make
			}
			suspects = append(suspects, x)
		}
	}
	return suspects[:min(len(suspects), mostSuspects)]
}

// lookThrough repeats through v all looks on which the outcome of a resource depends. The error
// is the reason for which the resource would fail.
func (f *Forecaster) lookThrough(ctx context.Context, provider *resource.Binding, ev *event.Event, v *host.View) error {
	r := ev.Resource
	state, err := provider.Status(ctx, v, r.Spec)
	if err != nil {
		return err
	}
	d := r.Type.Decide(r.Spec, state, ev.Refreshed)
	if d.Err != nil || len(d.Actions) == 0 {
		return d.Err
	}
	if _, err = f.askProvider(ctx, v, ev.Index, provider); err != nil {
		return err
	}
	return v.Overlay().Permits(d.Effects...)
}
