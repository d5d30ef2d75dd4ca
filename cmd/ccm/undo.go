package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
)

func (e *env) undoCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Give files back what they were before the last run that changed any",
		Long: `Give files back what they were before the last run that changed any, as restore
does, and refresh what subscribes to them. Packages, services and what commands
did are left as they are.

An undo is a run of its own: undoing it brings back what it undid. The next run
of the script makes the same changes again, unless the script is changed first.`,
		Args: wantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := e.store(f.stateDir, f.limits())
			if err != nil {
				return err
			}
			list, _, err := store.History()
			if err != nil {
				return err
			}
			at := len(list) - 1
			for at >= 0 && list[at].Files == 0 {
				at--
			}
			if at < 0 {
				return errNothingToUndo
			}
			rec, err := e.findRun(store, list[at].ID)
			if err != nil {
				return err
			}
			r := &restoration{env: e, f: f, rec: rec, kind: "undo"}
			if r.refresh, err = e.refreshes(cmd.Context(), store, rec, f); err != nil {
				return err
			}
			return r.run(cmd.Context(), nil)
		},
	}
	f.addRestore(cmd)
	return cmd
}

// A refreshing is what has to be refreshed when the files of resources change
// otherwise than by a run.
type refreshing struct {
	site *site
	// direct is what subscribes to a resource.
	direct map[resource.ID][]resource.ID
	// catalog is all that is refreshed, directly or not.
	catalog *catalog.Catalog
	owed    map[resource.ID]bool
}

// refreshes returns what subscribes to what a run changed, according to the
// catalog that was applied last for the same site.
func (e *env) refreshes(ctx context.Context, store *state.Store, rec *state.Record, f *runFlags) (*refreshing, error) {
	applied, err := store.Applied()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(applied, func(a state.Applied) bool { return a.Site == rec.Site && a.Root == rec.Root })
	if at < 0 {
		return nil, nil
	}
	s, err := e.appliedSite(ctx, store, applied[at])
	if err != nil {
		e.warn(fmt.Sprintf("what is to be refreshed is not known: %v", err))
		return nil, nil
	}
	for _, u := range s.unrecorded {
		e.warn(fmt.Sprintf("whether %s is to be refreshed is not known: %s", u.ID, u.Because))
	}
	x := &refreshing{site: s, direct: make(map[resource.ID][]resource.ID), owed: make(map[resource.ID]bool)}
	changed := make(map[string]bool)
	for _, c := range rec.Changes {
		changed[c.Resource] = true
	}
	// Everything comes after what it subscribes to, so one pass suffices.
	refreshed := make(map[resource.ID]bool)
	var b catalog.Builder
	for i, r := range s.catalog.Resources {
		if _, composite := r.Spec.(resource.Composite); composite {
			continue
		}
		for _, d := range s.catalog.Deps[i] {
			by := s.catalog.Resources[d.Index].ID
			if !d.Refresh || !changed[by.String()] && !refreshed[by] {
				continue
			}
			refreshed[r.ID] = true
			if changed[by.String()] {
				x.direct[by] = append(x.direct[by], r.ID)
			}
		}
		if refreshed[r.ID] {
			if _, err := b.Add(alone(r, s.catalog, i, refreshed)); err != nil {
				return nil, err
			}
		}
	}
	x.catalog, err = b.Build()
	return x, err
}

// alone returns r with references to others that are refreshed only.
func alone(r *resource.Resource, c *catalog.Catalog, i int, refreshed map[resource.ID]bool) *resource.Resource {
	one := *r
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

// owe records, before files of a resource are changed, what that refreshes.
func (x *refreshing) owe(j converge.Journal, by resource.ID) error {
	if x.owed[by] || len(x.direct[by]) == 0 {
		return nil
	}
	x.owed[by] = true
	if err := j.Owe(by, converge.Intended, x.direct[by]); err != nil {
		return fmt.Errorf("cannot record what this would refresh: %w", err)
	}
	return nil
}

// perform refreshes what is owed, and adds to the summary.
func (x *refreshing) perform(ctx context.Context, r *restoration, sum *converge.Summary) error {
	if len(x.catalog.Resources) == 0 {
		return nil
	}
	ctx, cancel := r.f.limited(ctx)
	defer cancel()
	engine := &converge.Engine{Registry: x.site.registry, Facts: x.site.facts, Reporter: r.out.reporters, Stop: r.env.stop}
	if err := r.env.conceal(engine, r.past.store); err != nil {
		return err
	}
	var more converge.Summary
	if r.f.noop {
		engine.LeftOver = x.wouldOwe(r.out.id)
		more = engine.Plan(ctx, &r.host.View, x.catalog)
	} else {
		engine.Journal, engine.LeftOver = r.past.run, r.past.run.LeftOver("", x.catalog)
		engine.Reporter = converge.Reporters{r.past.run, engine.Reporter}
		more = engine.Run(ctx, r.host, x.catalog)
	}
	for i, n := range more.Counts {
		sum.Counts[i] += n
	}
	sum.Refreshed, sum.RefreshedLater, sum.Interrupted = more.Refreshed, more.RefreshedLater, sum.Interrupted || more.Interrupted
	sum.Took += more.Took
	return nil
}

// wouldOwe returns what would be owed, for a plan.
func (x *refreshing) wouldOwe(run string) (list []converge.Debt) {
	for _, r := range x.site.catalog.Resources {
		for _, to := range x.direct[r.ID] {
			list = append(list, converge.Debt{To: to, By: r.ID, Run: run, Cause: converge.Intended})
		}
	}
	return list
}
