package converge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// Some values are known only after earlier resources were converged
// (resource.Resource.Later). A run asks for them right before their resource. A plan cannot
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
	case len(w.unsettled) > 0 || isOnlyPlanned(r) && len(w.onlyPlanned) > 0:
		for _, name := range r.Later {
			ev.Diff = append(ev.Diff, resource.Delta{Property: name, Want: resource.KnownAfterRun})
		}
		w.forecaster.blame(ctx, nil, ev, w.suspects.earlier(ev.Index))
		ev.Reason = laterText(r.Later)
		w.forecaster.assumeMayAct(ev, nil)
		return false
	}
	spec, err := r.Resolve(ctx)
	if err != nil {
		ev.Outcome, ev.Err = event.Failed, err
		return false
	}
	ev.Resource = r.WithSpec(spec)
	if w.redactor != nil {
		ev.Resource.AddSecrets(w.redactor.k)
		if err := ev.Resource.MarkSensitive(w.redactor.k); err != nil {
			ev.Outcome, ev.Err = event.Failed, err
			return false
		}
	}
	w.catalog.Resources[ev.Index] = ev.Resource
	return true
}

// earlier returns what is pending or unknown before resource i, what it comes after
// first. What is only planned makes a difference only for what is, too.
func (s *suspectFinder) earlier(i int) (list []suspect) {
	for _, k := range s.ancestorsOf(i).unsettled {
		list = append(list, suspect{k, declared})
	}
	others := s.unsettled
	if isOnlyPlanned(s.catalog.Resources[i]) {
		others = slices.Sorted(slices.Values(slices.Concat(s.unsettled, s.onlyPlanned)))
	}
	for _, k := range others {
		if len(list) == mostSuspects {
			break
		}
		if !s.comesAfter(i, k) {
			list = append(list, suspect{k, mayBe})
		}
	}
	return list
}

func laterText(names []string) string {
	if len(names) == 1 {
		return "the value of " + names[0] + " is known after run"
	}
	return "the values of " + strings.Join(names, " and ") + " are known after run"
}

// desiredDigest returns a digest with the fingerprint of the late values of the event's
// resource.
func (w *walk) desiredDigest(ev *event.Event, desired resource.DesiredDigest) resource.DesiredDigest {
	if len(w.declared[ev.Index].Later) > 0 {
		desired.LateValues = fmt.Sprintf("%016x", ev.Resource.Type.Schema().Fingerprint(ev.Resource.Spec))
	}
	return desired
}
