package recovery

import (
	"context"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// A recreation makes again what a run removed and files do not bring back, such as users and packages.
type recreation struct {
	registry  *resource.Registry
	facts     *facts.Facts
	resources []*resource.Resource
	// otherwise has the resources to apply in the place of those that cannot be applied any more.
	otherwise map[resource.ID]*resource.Resource
	notes     map[resource.ID]string
	failed    []*event.Event // what cannot be made again at all
}

// planRecreation returns the recreation of what a run removed, nil if there is none.
func planRecreation(ctx context.Context, p *site.Process, store *state.Store, run *state.Record) (*recreation, error) {
	list, err := store.Recreations(run)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	s, err := siteOn(ctx, p, store, run.Root)
	if err != nil {
		return nil, err
	}
	x := &recreation{registry: s.Registry, facts: s.Facts, otherwise: make(map[resource.ID]*resource.Resource), notes: make(map[resource.ID]string)}
	known := make(map[resource.ID]bool)
	for _, d := range list {
		r, err := x.decode(d.Type, d.Properties)
		if d.Lost != "" {
			err = diag.SubjectCannot("", "be made again: %s", d.Lost)
		}
		if err != nil {
			x.failed = append(x.failed, &event.Event{Resource: r, Outcome: event.Failed, Err: err})
			continue
		}
		if known[r.ID] {
			continue // two removals took the same group
		}
		known[r.ID], x.notes[r.ID] = true, d.Note
		x.resources = append(x.resources, r)
		if d.Otherwise != nil {
			if other, err := x.decode(d.Type, d.Otherwise); err == nil {
				x.otherwise[r.ID] = other
			}
		}
	}
	return x, nil
}

// decode returns the resource of a declaration, in any case with an ID.
func (x *recreation) decode(typ string, properties *schema.Table) (*resource.Resource, error) {
	t := x.registry.Type(typ)
	if t == nil {
		name, _ := properties.Get("name")
		return &resource.Resource{ID: resource.ID{Type: typ, Name: name.S}, Common: resource.EmptyCommon}, diag.Unknown("type", string(typ), nil)
	}
	r, err := t.Decode(properties, resource.Origin{})
	if err != nil {
		r = t.DecodeInvalid(properties, resource.Origin{})
	}
	return r, err
}

// perform makes the things again or, in a plan, reports that, and adds them to the summary.
func (x *recreation) perform(ctx context.Context, r *restore, sum *event.Summary) error {
	if err := x.chooseOthers(ctx, r); err != nil {
		return err
	}
	reporters := append([]event.Reporter{event.ReporterFunc(x.addNote)}, r.options.Reporters...)
	if r.state.Writer != nil {
		reporters = append([]event.Reporter{r.state.Writer}, reporters...)
	}
	for _, ev := range x.failed {
		ev.Noop, ev.Start = r.options.Plan, r.host.Now()
		sum.Add(ev)
		for _, to := range reporters {
			to.Event(ev)
		}
	}
	engine, c, err := x.engine(r, reporters)
	if err != nil {
		return err
	}
	if r.options.Plan {
		sum.Merge(engine.Plan(ctx, &r.host.View, c))
		return nil
	}
	engine.Journal = r.state.Writer
	sum.Merge(engine.Run(ctx, r.host, c))
	return nil
}

// chooseOthers replaces the resources that a plan expects to fail and that have another to apply in their place.
func (x *recreation) chooseOthers(ctx context.Context, r *restore) error {
	if len(x.otherwise) == 0 {
		return nil
	}
	why := make(map[resource.ID]string)
	engine, c, err := x.engine(r, []event.Reporter{event.ReporterFunc(func(ev *event.Event) {
		if ev.Outcome == event.Failed {
			why[ev.Resource.ID] = ev.Err.Error()
		}
	})})
	if err != nil {
		return err
	}
	engine.Plan(ctx, &r.host.View, c)
	for i, now := range x.resources {
		if other := x.otherwise[now.ID]; other != nil && why[now.ID] != "" {
			x.resources[i] = other
			x.notes[now.ID] = event.JoinRemarks("not as before: "+why[now.ID], x.notes[now.ID])
		}
	}
	return nil
}

// engine returns the engine and the catalog of the resources.
func (x *recreation) engine(r *restore, reporters []event.Reporter) (*converge.Engine, *catalog.Catalog, error) {
	var b catalog.Builder
	for _, res := range x.resources {
		if _, err := b.Add(res); err != nil {
			return nil, nil, err
		}
	}
	if err := catalog.MarkSecrets(r.process.Secrets, x.resources); err != nil {
		return nil, nil, err
	}
	c, err := b.Build()
	if err != nil {
		return nil, nil, err
	}
	e := &converge.Engine{Registry: x.registry, Facts: x.facts, Reporters: reporters, Stop: r.process.Stop}
	return e, c, r.state.Store.Conceal(e)
}

// addNote makes an event say what is not as it was.
func (x *recreation) addNote(ev *event.Event) {
	if ev.Outcome == event.Changed || ev.Outcome == event.Pending {
		ev.Reason = event.JoinRemarks(x.notes[ev.Resource.ID], ev.Reason)
	}
}
