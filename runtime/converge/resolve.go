package converge

import (
	"context"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// Some values are known only after earlier resources were converged
// (resource.Resource.LateProperties). A run asks for them right before their resource. A plan cannot
// know them, unless all that comes earlier is stable: then they are those of a run.

// resolvable returns c or, if it has such values, a copy whose list of resources the walk
// may change.
func resolvable(c *catalog.Catalog) *catalog.Catalog {
	if !slices.ContainsFunc(c.Resources, func(r *resource.Resource) bool { return r.Resolve != nil }) {
		return c
	}
	own := *c
	own.Resources = slices.Clone(c.Resources)
	return &own
}

// resolve asks for the late values of the event's resource. It is false if they cannot be
// had. Health checks alone do not need them.
func (w *walk) resolve(ctx context.Context, ev *event.Event) bool {
	r := ev.Resource
	switch {
	case r.Resolve == nil || w.monitorsOnly(r):
		return true
	case w.forecaster.LateValuesUnknown(ctx, ev):
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

// desiredDigest returns a digest with the fingerprint of the late values of the event's
// resource, which was declared as it is given.
func desiredDigest(declared *resource.Resource, ev *event.Event, desired resource.DesiredDigest) resource.DesiredDigest {
	if len(declared.LateProperties) > 0 {
		desired.LateValues = fmt.Sprintf("%016x", ev.Resource.Type.Schema().Fingerprint(ev.Resource.Spec))
	}
	return desired
}
