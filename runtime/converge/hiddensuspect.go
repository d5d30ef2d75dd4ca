package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// hiddenSuspects adds to suspects those that appear once the first ones are assumed to do
// nothing, until the state of the resource is known without them. An assumption about a path
// hides the earlier ones, and a directory that one resource may make is not looked for from
// another.
func (w *walk) hiddenSuspects(ctx context.Context, f *resource.Binding, ev *Event, suspects []suspect) []suspect {
	if f == nil || !w.planning() {
		return suspects
	}
	without := make(map[any]bool)
	defer func(failing bool) { w.failing, w.without = failing, nil }(w.failing)
	for {
		for _, x := range suspects {
			without[x.index] = true
		}
		if !w.view.Assumes(without) {
			return suspects
		}
		looks := w.newLooks()
		err := w.lookThrough(ctx, f, ev, w.view.Without(without).Recording(looks))
		w.failing, w.without = err != nil, without
		more := w.suspects(ev.Index, looks)
		if len(more) == 0 {
			return suspects
		}
		for _, x := range more {
			if x.rank == fits {
				x.rank = mayBe // it matches in another state than the plan has
			}
			suspects = append(suspects, x)
		}
	}
}

// newLooks returns an empty record of looks for the present resource. Its commands run once.
func (w *walk) newLooks() *host.Looks {
	looks := new(host.Looks)
	if w.looks != nil {
		looks.Answers = w.looks.Answers
	}
	return looks
}

// lookThrough repeats through v all looks on which the outcome of a resource depends. It
// returns why the resource would fail.
func (w *walk) lookThrough(ctx context.Context, f *resource.Binding, ev *Event, v *host.View) error {
	r := ev.Resource
	state, err := f.Status(ctx, v, r.Spec)
	if err != nil {
		return err
	}
	d := r.Type.Decide(r.Spec, state, ev.Refreshed)
	if d.Err != nil || len(d.Actions) == 0 {
		return d.Err
	}
	if _, err = w.foresee(ctx, v, ev.Index, f); err != nil {
		return err
	}
	return v.Permits(d.Effects...)
}
