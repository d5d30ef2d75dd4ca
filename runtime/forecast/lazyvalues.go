package forecast

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// CloseIfLazyValuesUnknown reports whether the lazy values of the event's resource cannot be known,
// because an earlier resource is pending or unknown. The event gets the reason.
func (f *Forecaster) CloseIfLazyValuesUnknown(ctx context.Context, ev *event.Event) bool {
	r := ev.Resource
	if len(f.unsettled) == 0 && !(r.IsOnlyPlanned() && len(f.onlyPlanned) > 0) {
		return false
	}
	for _, name := range r.LazyProperties {
		ev.Diff = append(ev.Diff, resource.Delta{Property: name, Want: resource.KnownAfterRun})
	}
	f.blame(ctx, nil, ev, f.suspects.earlier(ev.Index))
	ev.Reason = laterText(r.LazyProperties)
	if f.isMissing(r) {
		ev.Forecast = &event.Forecast{
			Outcome: event.Pending, Diff: []resource.Delta{{Property: "ensure", Have: "absent", Want: "present"}},
			Actions: []resource.Action{{Verb: "Create", Phrase: "created the file"}},
		}
	}
	f.assumeMayAct(ev, nil)
	return true
}

// isMissing reports whether a file with lazy values is going to be made: nothing is at its path, and no
// pending resource is going to bring anything there.
func (f *Forecaster) isMissing(r *resource.Resource) bool {
	name, _, _ := resource.BoundsOf(r.Spec)
	sets := resource.TraitsOf(r.Spec).WrittenFile != "" || slices.Contains(r.LazyProperties, "content")
	if name == "" || !sets || !f.willExist(r) {
		return false
	}
	looks := f.newLooks()
	info, err := f.view.Recording(looks).Lstat(name)
	return err == nil && info.Kind == safepath.Missing && len(looks.Doubts()) == 0
}

// earlier returns the pending and unknown resources before resource i, first those that i comes
// after. Resources that are only planned count only if i is one, too.
func (s *suspectFinder) earlier(i int) (list []suspect) {
	for _, k := range s.ancestorsOf(i).unsettled {
		list = append(list, suspect{k, declared})
	}
	others := s.unsettled
	if s.catalog.Resources[i].IsOnlyPlanned() {
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
		return "the value of " + names[0] + " is known only after the run"
	}
	return "the values of " + strings.Join(names, " and ") + " are known only after the run"
}
