package recovery

import (
	"context"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// A refreshPlan lists the resources to refresh after a restore of files.
type refreshPlan struct {
	registry *resource.Registry
	facts    *facts.Facts
	// changes are the changed resources with subscribers, in order. Direct has the subscribers of
	// each.
	changes []resource.ID
	direct  map[resource.ID][]resource.ID
	// catalog has all resources to refresh, directly or not.
	catalog  *catalog.Catalog
	recorded map[resource.ID]bool // changed resources whose refreshes are in the journal
}

// planRefresh returns the refreshes that a restore of a run causes, according to the last applied
// catalog of the site.
func planRefresh(ctx context.Context, p *site.Process, store *state.Store, o *RestoreOptions) (*refreshPlan, error) {
	applied, err := store.Applied()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(applied, func(a state.AppliedHeader) bool { return a.Site == o.Run.Site && a.Root == o.Run.Root })
	if at < 0 {
		return nil, nil
	}
	s, unrecorded, err := appliedSite(ctx, p, store, applied[at])
	if err != nil {
		p.Messages.Warn(fmt.Sprintf("pending refreshes unknown: %v", err))
		return nil, nil
	}
	for _, u := range unrecorded {
		p.Messages.Warn(fmt.Sprintf("pending refresh of %s unknown: %s", u.ID, u.Reason))
	}
	x := &refreshPlan{registry: s.Registry, facts: s.Facts, direct: make(map[resource.ID][]resource.ID), recorded: make(map[resource.ID]bool)}
	changed := make(map[state.Name]bool)
	for _, c := range o.Run.Changes {
		if !state.Among(string(c.Path), o.Paths) {
			continue
		}
		changed[c.Resource] = true
		for _, id := range c.Also {
			changed[id] = true
		}
	}
	// Every resource stands behind those that it subscribes to, so one pass suffices.
	refreshed := make(map[resource.ID]bool)
	var b catalog.Builder
	for i, r := range s.Catalog.Resources {
		if resource.TraitsOf(r.Spec).Child != nil {
			continue
		}
		for _, d := range s.Catalog.Deps[i] {
			by := s.Catalog.Resources[d.Index].ID
			if !d.Refresh || !changed[state.Name(by.String())] && !refreshed[by] {
				continue
			}
			refreshed[r.ID] = true
			if changed[state.Name(by.String())] {
				x.direct[by] = append(x.direct[by], r.ID)
			}
		}
		if refreshed[r.ID] {
			if _, err := b.Add(isolated(r, s.Catalog, i, refreshed)); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range s.Catalog.Resources {
		if len(x.direct[r.ID]) > 0 {
			x.changes = append(x.changes, r.ID)
		}
	}
	x.catalog, err = b.Build()
	return x, err
}

// isolated returns r with only those references that lead to refreshed resources.
func isolated(r *resource.Resource, c *catalog.Catalog, i int, refreshed map[resource.ID]bool) *resource.Resource {
	one := *r
	one.Common = new(*r.Common) // other resources share it
	one.Common.Require, one.Common.Before, one.Common.Notify, one.Common.Subscribe = nil, nil, nil, nil
	for _, d := range c.Deps[i] {
		id := c.Resources[d.Index].ID
		switch {
		case !refreshed[id]:
		case d.Refresh:
			one.Common.Subscribe = append(one.Common.Subscribe, resource.Reference(id))
		default:
			one.Common.Require = append(one.Common.Require, resource.Reference(id))
		}
	}
	return &one
}

// record adds the refreshes to the journal, before the files of a resource are changed.
func (x *refreshPlan) record(j converge.Journal, by resource.ID) error {
	if x.recorded[by] || len(x.direct[by]) == 0 {
		return nil
	}
	x.recorded[by] = true
	if err := j.AddRefreshes(by, event.Intended, x.direct[by]); err != nil {
		return diag.Cannot("record", "pending refreshes", err)
	}
	return nil
}

// perform performs the refreshes, and adds them to the summary.
func (x *refreshPlan) perform(ctx context.Context, r *restore, sum *event.Summary) error {
	if len(x.catalog.Resources) == 0 {
		return nil
	}
	engine := &converge.Engine{Registry: x.registry, Facts: x.facts, Reporters: append([]event.Reporter{event.ReporterFunc(r.countOwnChanges)}, r.options.Reporters...), Stop: r.process.Stop}
	if err := r.state.Store.Conceal(engine); err != nil {
		return err
	}
	if r.options.Plan {
		engine.PendingRefreshes = x.expected(r.options.ID)
		sum.Merge(engine.Plan(ctx, &r.host.View, x.catalog))
		return nil
	}
	engine.Journal, engine.PendingRefreshes = r.state.Writer, r.state.Writer.PendingRefreshes("", x.catalog)
	engine.Reporters = append([]event.Reporter{r.state.Writer}, engine.Reporters...)
	sum.Merge(engine.Run(ctx, r.host, x.catalog))
	return nil
}

// countOwnChanges makes the event say that a refresh which the restore itself put into the journal is
// caused by the restore, and is not left over from an earlier run.
func (r *restore) countOwnChanges(ev *event.Event) {
	var left []event.PendingRefresh
	for _, p := range ev.PendingRefreshes {
		if p.Run != r.options.ID {
			left = append(left, p)
		} else if !slices.Contains(ev.RefreshedBy, p.By) {
			ev.RefreshedBy = append(ev.RefreshedBy, p.By)
		}
	}
	ev.PendingRefreshes = left
}

// expected returns, for a plan, the refreshes that the journal would have.
func (x *refreshPlan) expected(run string) (list []event.PendingRefresh) {
	for _, by := range x.changes {
		for _, to := range x.direct[by] {
			list = append(list, event.PendingRefresh{To: to, By: by, Run: run, Cause: event.Intended})
		}
	}
	return list
}
