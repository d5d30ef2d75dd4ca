package converge

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// noteCompanions calls act, which makes the resources of the events appear, disappear or change.
// The last event gets a remark about the companions, such as the dependencies that a package
// manager installs or removes. A failed inventory does not prevent the action.
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
	how := provider.CompanionRecreation(specs, before, after)
	if want, ok := last.Resource.Spec.(resource.EnsureReporter); !ok || w.Journal == nil || len(how) == 0 || !resource.IsAbsent(want.WantedEnsure()) {
		return nil
	}
	return w.Journal.RecordRemoval(last.Resource, how)
}
