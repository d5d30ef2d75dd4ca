package converge

import (
	"context"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// Late values are known only after earlier resources were converged
// (resource.Resource.LazyProperties). A run resolves them right before their resource. A plan
// cannot know them, unless everything earlier is stable: then they are the same as in a run.

// resolvable returns c or, if it has lazy values, a copy whose list of resources the walk may
// change.
func resolvable(c *catalog.Catalog) *catalog.Catalog {
	if !slices.ContainsFunc(c.Resources, func(r *resource.Resource) bool { return r.Resolve != nil }) {
		return c
	}
	own := *c
	own.Resources = slices.Clone(c.Resources)
	return &own
}

// resolve resolves the lazy values of the event's resource, and reports whether it could. Health
// checks alone need no lazy values.
func (w *walk) resolve(ctx context.Context, ev *event.Event) bool {
	r := ev.Resource
	switch {
	case r.Resolve == nil || w.monitorsOnly(r):
		return true
	case w.forecaster.CloseIfLazyValuesUnknown(ctx, ev):
		return false
	}
	spec, err := r.Resolve(ctx)
	if err != nil {
		ev.Outcome, ev.Err = event.Failed, err
		return false
	}
	ev.Resource = r.WithSpec(spec)
	if err := w.redactor.Mark(ev.Resource); err != nil {
		ev.Outcome, ev.Err = event.Failed, err
		return false
	}
	w.catalog.Resources[ev.Index] = ev.Resource
	return true
}

// desiredDigest adds to a digest the fingerprint of the lazy values of the event's resource.
// Declared is the resource before its lazy values were resolved.
func desiredDigest(declared *resource.Resource, ev *event.Event, desired resource.DesiredDigest) resource.DesiredDigest {
	if len(declared.LazyProperties) > 0 {
		desired.LazyValues = fmt.Sprintf("%016x", ev.Resource.Type.Schema().Fingerprint(ev.Resource.Spec))
	}
	return desired
}
