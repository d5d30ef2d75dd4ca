package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// noteCompanions calls act, which makes the resources of events appear, disappear or change,
// and gives the last event a remark about what came and went with them, such as the packages
// that another one needs. That an inventory fails is no reason not to act.
func (w *walk) noteCompanions(ctx context.Context, provider resource.Binding, d resource.Decision, list []*event.Event, act func() error) error {
	if !slices.ContainsFunc(d.Diff, func(x resource.Delta) bool { return x.Property == "ensure" }) {
		return act()
	}
	before, err := provider.Inventory(ctx, w.view)
	if before == nil || err != nil {
		return act()
	}
	if err := act(); err != nil {
		return err
	}
	after, err := provider.Inventory(ctx, w.view)
	if err != nil {
		return nil
	}
	specs := make([]any, len(list))
	for i, ev := range list {
		specs[i] = ev.Resource.Spec
	}
	last := list[len(list)-1]
	last.Reason = event.JoinRemarks(last.Reason, provider.CompanionText(specs, before, after))
	return nil
}
