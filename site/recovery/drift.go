package recovery

import (
	"context"
	"time"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// Drift compares the machine with the last applied catalog and reports the differences. Resources
// whose record is not sufficient are reported as unknown. With texts, events have diffs of texts.
func Drift(ctx context.Context, p *site.Process, store *state.Store, a state.AppliedHeader, reporters []event.Reporter, texts bool) (event.Summary, error) {
	s, unrecorded, err := appliedSite(ctx, p, store, a)
	if err != nil {
		return event.Summary{}, err
	}
	for i, r := range s.Catalog.Resources {
		if resource.TraitsOf(r.Spec).ActsAlways {
			r.Skip = "it runs every time"
		}
		s.Catalog.Deps[i] = nil // each resource is compared by itself, without refreshes
	}
	d := &driftReporter{reporters: reporters}
	engine := &converge.Engine{
		Registry: s.Registry, Facts: s.Facts, Reporters: []event.Reporter{d}, Stop: p.Stop, Texts: texts,
		Cause: func(*resource.Resource, resource.DesiredDigest, func() string) event.Cause {
			return event.Corrective
		},
		Recall: store.DesiredDigests(a), Removals: store.Removals(a.Site, a.Root, s.Catalog),
	}
	if err := store.Conceal(engine); err != nil {
		return event.Summary{}, err
	}
	sum := engine.Plan(ctx, &s.Host.View, s.Catalog)
	sum.Counts[event.Skipped] -= d.ignored
	for _, u := range unrecorded {
		ev := unknownEvent(u, sum.Total(), p.Clock.Now())
		sum.Add(ev)
		d.Event(ev)
	}
	return sum, nil
}

// A driftReporter passes on the events that matter for drift.
type driftReporter struct {
	reporters []event.Reporter
	ignored   int
}

// Event implements event.Reporter.
func (d *driftReporter) Event(e *event.Event) {
	if e.Resource.Skip != "" {
		d.ignored++
		return
	}
	for _, x := range d.reporters {
		x.Event(e)
	}
}

// unknownEvent returns the event of a resource that cannot be compared with the past.
func unknownEvent(u state.MissingRecord, index int, now time.Time) *event.Event {
	id, _ := resource.ParseID(u.ID)
	return &event.Event{
		Resource: &resource.Resource{ID: id, Common: resource.EmptyCommon}, Index: index, Outcome: event.Unknown, Noop: true, Reason: u.Reason, Start: now,
	}
}

// appliedSite returns a site with the last applied catalog, and the resources whose record is not
// sufficient.
func appliedSite(ctx context.Context, p *site.Process, store *state.Store, a state.AppliedHeader) (*site.Site, []state.MissingRecord, error) {
	s, err := siteOn(ctx, p, store, a.Root)
	if err != nil {
		return nil, nil, err
	}
	var left []state.MissingRecord
	s.Catalog, left, err = store.Catalog(a, s.Registry)
	return s, left, err
}

// siteOn returns a site without resources, for the machine at root.
func siteOn(ctx context.Context, p *site.Process, store *state.Store, root string) (*site.Site, error) {
	env := &site.TemplateEnv{Clock: p.Clock}
	reg, err := site.NewRegistry(env)
	if err != nil {
		return nil, err
	}
	s := &site.Site{Registry: reg, Host: p.NewRecorder(site.RecordOptions{StateDir: store.Dir(), Root: root}).Host(site.HostOptions{Log: p.Log})}
	if s.Facts, err = p.Facts(ctx, &s.Host.View, site.FactOptions{}); err != nil {
		return nil, err
	}
	env.Facts = s.Facts
	return s, nil
}
