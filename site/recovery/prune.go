package recovery

import (
	"context"
	"errors"
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// A Prune removes the undeclared resources of a site that earlier runs created.
type Prune struct {
	process *site.Process
	options *site.RunOptions
	site    *site.Site
	state   *site.RunState
	catalog *catalog.Catalog // each resource with ensure = "absent", or skipped
	// OtherSites counts the resources that stay because another site declared them in its last
	// run, by site. The same file with other arguments or options is another site.
	OtherSites map[string]int
	// previous has the resources that are forgotten after the prune.
	previous map[string]bool
	// parents are the parent directories that runs of the site made.
	parents []state.MadeParent
	summary event.Summary
	ran     bool
	plan    *site.Decisions // nil without a plan
}

// OpenPrune reads a script or manifest, finds its undeclared resources and, unless it is a plan,
// takes the lock of the state directory. [Prune.End] must be called unless there is an error.
func OpenPrune(ctx context.Context, p *site.Process, file string, args []string, o *site.RunOptions) (*Prune, error) {
	x := &Prune{process: p, options: o}
	recorder := p.NewRecorder(o.Record)
	var err error
	if x.site, err = recorder.Load(ctx, file, args, o); err != nil {
		return nil, err
	}
	if info := x.site.RunInfo(o.ID, "prune"); o.Plan {
		x.state, err = recorder.Open(info.Site, info.File)
	} else {
		x.state, err = recorder.Begin(ctx, info)
	}
	if err == nil {
		err = x.find()
	}
	if err != nil {
		x.End()
		return nil, err
	}
	return x, nil
}

// find makes the catalog of removals.
func (x *Prune) find() error {
	list, kept, err := state.Undeclared(x.state.Store, x.state.Site, x.state.Root, x.site.Catalog)
	if err != nil {
		return err
	}
	x.OtherSites = kept
	var b catalog.Builder
	var errs diag.List
	var all, removals []*resource.Resource
	x.previous = make(map[string]bool, len(list))
	for _, u := range list {
		r, again := removal(x.site.Registry, u)
		if x.previous[u.ID] = !again; r != nil {
			all = append(all, r)
		}
	}
	all, err = x.addExtracted(all)
	errs.Add(err)
	all, err = x.addParents(all)
	errs.Add(err)
	for _, r := range all {
		_, err := b.Add(r)
		errs.Add(err)
		if r.Skip == "" {
			removals = append(removals, r)
		}
	}
	errs.Add(catalog.MarkSecrets(x.process.Secrets, removals))
	x.catalog, err = b.Build()
	errs.Add(err)
	return errs.Err()
}

// Empty reports whether there is nothing to remove or to report.
func (x *Prune) Empty() bool { return len(x.catalog.Resources) == 0 }

// removal returns the declaration that removes a resource. It is a skipped one if the resource
// cannot be removed, and nil if there is nothing to remove: the resource was absent, or was made
// of others. Again says that a later prune may succeed.
func removal(reg *resource.Registry, u state.UndeclaredResource) (r *resource.Resource, again bool) {
	id, err := resource.ParseID(u.ID)
	if err != nil {
		return nil, false
	}
	skipped := func(why string) *resource.Resource {
		return &resource.Resource{ID: id, Common: resource.EmptyCommon, Pos: u.Pos, Skip: why}
	}
	t := reg.Type(u.Type)
	if t == nil {
		return skipped("unknown type " + u.Type), true
	}
	if ensure := t.Schema().Field("ensure"); ensure == nil || !canBeAbsent(ensure) {
		if isApply(t, u) {
			return nil, false
		}
		return skipped("ccm cannot undo effects of " + u.Type + " resources"), false
	}
	if e, _ := u.Properties.Get("ensure"); e.Go() == "absent" {
		return nil, false // it was declared as absent, so it created nothing
	}
	if !u.Made {
		return skipped("it existed before a run of the site managed it"), false
	}
	for _, keep := range [][]string{nil, {t.Schema().Name().Name}} {
		if r, err = decodeRemoval(t, u, keep); err == nil {
			return r, false
		}
	}
	return skipped(err.Error()), false
}

// canBeAbsent reports whether ensure has the value "absent".
func canBeAbsent(ensure *schema.Field) bool {
	return slices.Contains(ensure.Suggestions(), "absent")
}

// isApply reports whether a resource applies a child, whose resources are undeclared by
// themselves.
func isApply(t *resource.Type, u state.UndeclaredResource) bool {
	u.Properties.Positions = schema.FixedPosition(u.Pos)
	r, err := t.Decode(u.Properties, resource.Origin{Pos: u.Pos})
	if err != nil {
		return false
	}
	return resource.TraitsOf(r.Spec).Child != nil
}

// removalCommon are the common properties that a removal keeps.
var removalCommon = map[string]bool{"provider": true, "backup": true, "timeout": true, "tries": true, "try_sleep": true, "with_data": true}

// decodeRemoval returns u with ensure = "absent". Keep lists the properties of its type that
// stay; nil keeps all.
func decodeRemoval(t *resource.Type, u state.UndeclaredResource, keep []string) (*resource.Resource, error) {
	tab := &schema.Table{Positions: schema.FixedPosition(u.Pos)}
	for _, e := range u.Properties.Entries {
		own := t.Schema().Field(e.Key) != nil && e.Key != "ensure" && (keep == nil || slices.Contains(keep, e.Key))
		if own || removalCommon[e.Key] {
			tab.Entries = append(tab.Entries, e)
		}
	}
	tab.Set("ensure", schema.StringValue("absent"))
	return t.Decode(tab, resource.Origin{Pos: u.Pos})
}

// engine returns the engine that converges the catalog.
func (x *Prune) engine(reporters []event.Reporter) (*converge.Engine, error) {
	e := &converge.Engine{Registry: x.site.Registry, Facts: x.site.Facts, Reporters: reporters, Texts: true, Stop: x.process.Stop}
	e.Removals = x.state.Removals(x.site.Catalog, x.options.Site.WithData)
	return e, x.state.Store.Conceal(e)
}

// Plan reports what would be removed.
func (x *Prune) Plan(ctx context.Context, reporters []event.Reporter) (event.Summary, error) {
	x.plan = site.NewDecisions(x.process.Secrets)
	engine, err := x.engine(append([]event.Reporter{x.plan}, reporters...))
	if err != nil {
		return event.Summary{}, err
	}
	x.summary = engine.Plan(ctx, &x.site.Host.View, x.catalog)
	return x.summary, nil
}

// Run removes the resources; after [Prune.Plan], only as planned.
func (x *Prune) Run(ctx context.Context, reporters []event.Reporter) (event.Summary, error) {
	ctx, cancel := x.options.Record.Limited(ctx)
	defer cancel()
	stays := event.ReporterFunc(func(ev *event.Event) {
		if ev.Outcome == event.Failed || ev.KeepsData || ev.Outcome == event.Skipped && ev.Resource.Skip == "" {
			delete(x.previous, ev.Resource.ID.String())
		}
	})
	engine, err := x.engine(append([]event.Reporter{x.state.Writer, stays}, reporters...))
	if err != nil {
		return event.Summary{}, err
	}
	if x.plan != nil {
		engine.Approve = x.plan.Approve()
	}
	engine.Journal = x.state.Writer
	x.ran = true
	x.summary = engine.Run(ctx, x.site.Host, x.catalog)
	for id, gone := range x.previous {
		if !gone {
			delete(x.previous, id)
		}
	}
	err = errors.Join(x.forgetParents(), state.Forget(x.state.Store, x.state.Site, x.state.Root, x.previous))
	if err != nil {
		err = errors.Join(errors.New("removed resources are still on record"), err)
	}
	return x.summary, err
}

// End ends the record of the run, and releases the lock.
func (x *Prune) End() {
	x.site.Close()
	switch {
	case x.state == nil:
	case x.ran:
		x.state.End(x.summary)
	default:
		x.state.Release()
	}
}
