package converge

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Forecast is what would become of a resource that is unknown.
type Forecast struct {
	// Outcome is Stable, Pending or Failed.
	Outcome Outcome
	// Once says that the forecast holds once the missing things are there; otherwise it holds
	// for the present state.
	Once bool
	// MayExist says that the thing to create may exist by then.
	MayExist bool
	// Refresh says that it holds if something that the resource subscribes to changes.
	Refresh bool
	Diff    []resource.Delta
	Actions []resource.Action
	Text    *resource.Text
	Err     error
}

// record returns the view for the present resource, and the record of its looks; nil where
// they make no difference.
func (w *walk) record() (*host.View, *host.Looks) {
	if !w.planning() || !w.hasPendingOutcome {
		return w.view, nil
	}
	looks := w.newLooks()
	if looks.Answers == nil {
		looks.Answers = new(host.Answers)
	}
	return w.view.Recording(looks), looks
}

// recordStatusFailure records that Status or Decide has failed. In a plan the reason may be
// something that is pending.
func (w *walk) recordStatusFailure(ctx context.Context, f *resource.Binding, ev *Event, err error) {
	err = ev.Resource.ExplainMissing(err)
	if w.noop(ev.Resource) {
		if u, ok := errors.AsType[*resource.UnknownError](err); ok {
			w.unknown(ev, u.Because)
			w.assumeMayAct(ev, nil)
			return
		}
	}
	if w.noop(ev.Resource) && !w.planning() && w.hasPendingOutcome {
		if k, ok := w.lastPending(ev.Index); ok { // nothing of what is pending can be seen
			w.blame(ctx, nil, ev, []suspect{{k, fits}})
			ev.Forecast = &Forecast{Outcome: Failed, Err: err}
			return
		}
	}
	w.failing = true
	defer func() { w.failing = false }()
	suspects := w.suspects(ev.Index, w.looks)
	if len(suspects) == 0 {
		ev.Outcome, ev.Err = Failed, err
		return
	}
	d, hopeful, certain := w.forecastDecision(ctx, f, ev)
	if certain != nil {
		ev.Outcome, ev.Err = Failed, ev.Resource.ExplainMissing(certain)
		return
	}
	w.blame(ctx, f, ev, suspects)
	if !hopeful {
		ev.Forecast = &Forecast{Outcome: Failed, Err: err}
		w.assumeMayAct(ev, nil)
		return
	}
	w.forecast(ctx, ev, d, true)
}

// recordProviderFailure is lookFailed for a resource that has no provider: what brings
// its commands may be pending.
func (w *walk) recordProviderFailure(ctx context.Context, ev *Event, err error) {
	if !w.planning() {
		return
	}
	w.failing = true
	defer func() { w.failing = false }()
	looks := new(host.Looks)
	w.view.Recording(looks).Looked(host.ProgramLook, ev.Resource.Type.Name, false)
	if suspects := w.suspects(ev.Index, looks); len(suspects) > 0 {
		ev.Err = nil
		w.blame(ctx, nil, ev, suspects)
		ev.Forecast = &Forecast{Outcome: Failed, Err: err}
		w.assumeMayAct(ev, nil)
	}
}

// recordForecastFailure records that the actions of a resource are going to fail, unless
// something pending prevents that.
func (w *walk) recordForecastFailure(ctx context.Context, f *resource.Binding, d resource.Decision, ev *Event, err error) {
	if !w.planning() {
		ev.Outcome, ev.Err = Failed, err
		return
	}
	w.failing = true
	defer func() { w.failing = false }()
	suspects := w.suspects(ev.Index, w.looks)
	if len(suspects) == 0 {
		ev.Outcome, ev.Err = Failed, err
		return
	}
	w.blame(ctx, f, ev, suspects)
	w.forecast(ctx, ev, d, true)
}

// forecastDecision decides about a resource as if the missing things that suspects may bring
// were there. An error means that it would fail even then.
func (w *walk) forecastDecision(ctx context.Context, f *resource.Binding, ev *Event) (d resource.Decision, ok bool, err error) {
	r := ev.Resource
	looks := w.newLooks()
	looks.Grant = func(l host.Look) bool { return w.mayBring(ev.Index, l) }
	v := w.view.Recording(looks)
	state, err := f.Status(ctx, v, r.Spec)
	if err == nil {
		if d = r.Type.Decide(r.Spec, state, false); d.Err == nil {
			_, err = w.foresee(ctx, v, ev.Index, f)
			if err == nil {
				return d, true, nil
			}
		}
		if d.Err != nil {
			err = d.Err
		}
	}
	if len(w.suspects(ev.Index, looks)) == 0 {
		return d, false, err
	}
	if d, ok := r.Type.DecideFresh(r.Spec); ok && d.Err == nil {
		return d, true, nil
	}
	return d, false, nil
}

// forecast records the forecast of a resource that is unknown.
func (w *walk) forecast(ctx context.Context, ev *Event, d resource.Decision, once bool) {
	x := &Forecast{Outcome: Pending, Once: once, Diff: d.Diff, Actions: d.Actions}
	switch {
	case d.Err != nil:
		x.Outcome, x.Err = Failed, d.Err
	case len(d.Actions) == 0:
		x.Outcome = Stable
	}
	if w.Texts && d.Text != nil {
		if text, err := d.Text(ctx, w.view); err == nil {
			x.Text = &text
		}
	}
	x.MayExist = w.mayExist(ev, d)
	ev.Forecast = x
	w.assumeMayAct(ev, &d)
}

// mayExist reports whether the thing to create may exist by then.
func (w *walk) mayExist(ev *Event, d resource.Decision) bool {
	name, _, _ := resource.BoundsOf(ev.Resource.Spec)
	if name == "" || !d.Has("ensure") {
		return false
	}
	look := host.Look{Kind: host.PathLook, Name: w.view.PathOf(name)}
	for n := range w.incompleteEffects {
		if x := &w.incompleteEffects[n]; x.brings && (x.matches(look) || w.comesAfter(ev.Index, x.index)) {
			return true
		}
	}
	return false
}

// assumeMayAct adds the possible effects of an unknown resource to the view for later
// resources. D is its decision as far as it is known, nil if it is not.
func (w *walk) assumeMayAct(ev *Event, d *resource.Decision) {
	if !w.planning() {
		return
	}
	w.mayHaveChanged = true
	r := ev.Resource
	if d != nil && d.Err == nil && (d.Complete || len(d.Actions) == 0 && isConfined(r)) {
		w.view.AssumeBy(ev.Index, true, d.Effects...)
		if len(d.Actions) > 0 {
			return
		}
	}
	if paths := confinesOf(r); len(paths) > 0 {
		there := d == nil && w.willExist(r)
		for _, p := range paths {
			w.view.AssumeBy(ev.Index, !there, host.Planned{Path: p, Unsure: !there, Vague: there})
		}
		return
	}
	if d != nil && len(d.Effects) > 0 {
		w.view.AssumeBy(ev.Index, true, d.Effects...)
	}
	w.addIncompleteEffect(ev.Index)
	w.assumeUnknown(ev.Index, resource.Decision{})
}

// willExist reports whether a resource with late values will exist.
func (w *walk) willExist(r *resource.Resource) bool {
	want, ok := r.Spec.(resource.EnsureReporter)
	name, _, _ := resource.BoundsOf(r.Spec)
	if !ok || name == "" || len(r.Later) == 0 || slices.Contains(r.Later, "ensure") || want.WantedEnsure() == "absent" {
		return false
	}
	is, err := w.view.IsDirectory(path.Dir(name))
	return err == nil && is
}

// assumeUnknown makes the paths that resource i manages unknown in the view, except those in
// the effects of its decision.
func (w *walk) assumeUnknown(i int, d resource.Decision) {
	paths, _ := managedBy(w.catalog.Resources[i])
	for _, p := range paths {
		if !slices.ContainsFunc(d.Effects, func(x host.Planned) bool { return x.Path == p }) {
			w.view.AssumeBy(i, false, host.Planned{Path: p, Unsure: true})
		}
	}
}

func isConfined(r *resource.Resource) bool { return len(confinesOf(r)) > 0 }

// confinesOf returns the paths at or below which all effects of a resource are; none if it
// may have others.
func confinesOf(r *resource.Resource) []string {
	c, ok := r.Spec.(resource.EffectBound)
	if !ok {
		return nil
	}
	paths, _ := c.ConfinedTo()
	return paths
}

// recordConditions records the unknown resources whose failure skips resource i.
func (w *walk) recordConditions(i int) {
	if !w.planning() || !w.hasPendingOutcome {
		return
	}
	var list []suspect
	for _, d := range w.catalog.Deps[i] {
		if w.outcomes[d.Index] == Unknown {
			list = mergeSuspects(list, []suspect{{d.Index, declared}})
		} else if !w.conditional[d.Index] {
			continue
		}
		for _, deeper := range w.because[d.Index] {
			list = append(list, suspect{deeper, mayBe})
		}
	}
	if w.conditional[i] = len(list) > 0; w.conditional[i] {
		w.recordBecause(i, mergeSuspects(nil, list))
	}
}

// lastPending returns the last resource before i that is pending or unknown.
func (w *walk) lastPending(i int) (int, bool) {
	for k := i - 1; k >= 0; k-- {
		if w.outcomes[k] == Pending || w.outcomes[k] == Unknown {
			return k, true
		}
	}
	return 0, false
}

// unknown records that the outcome cannot be known in a plan.
func (w *walk) unknown(ev *Event, because string) { ev.Outcome, ev.Reason = Unknown, because }

// blame records that the outcome is unknown because of suspects. F, if it is known, finds
// hidden ones.
func (w *walk) blame(ctx context.Context, f *resource.Binding, ev *Event, suspects []suspect) {
	suspects = w.hiddenSuspects(ctx, f, ev, suspects)
	ev.Outcome, ev.BecauseSurely, ev.Cause = Unknown, suspects[0].rank < mayBe, NoCause
	w.recordBecause(ev.Index, suspects)
	for _, x := range suspects {
		ev.Because = append(ev.Because, Predecessor{w.catalog.Resources[x.index].ID, w.outcomes[x.index]})
	}
	told := w.namedCount(suspects)
	word := "is"
	if told > 1 {
		word = "are"
	}
	state := word + " " + ev.Because[0].Outcome.String()
	ev.Reason = joined(ev.Because[:told]) + " " + state
	if !ev.BecauseSurely {
		ev.Reason = fmt.Sprintf("%s, which %s, may make a difference", joined(ev.Because[:told]), state)
	}
	ev.named = told
}

// recordBecause records the suspects of resource i.
func (w *walk) recordBecause(i int, suspects []suspect) {
	if w.because == nil {
		w.because = make(map[int][]int)
	}
	for _, x := range suspects {
		if !slices.Contains(w.because[i], x.index) {
			w.because[i] = append(w.because[i], x.index)
		}
	}
}

// recordForecast records the forecast of a resource that is unknown, for later ones.
func (w *walk) recordForecast(ev *Event) {
	if ev.Forecast == nil || ev.Outcome != Unknown {
		return
	}
	if w.forecasts == nil {
		w.forecasts = make(map[int]Outcome)
	}
	w.forecasts[ev.Index] = ev.Forecast.Outcome
}

// namedCount returns how many suspects reports name: those with the rank of the first,
// unless these are many. Unknown ones are left out where there are pending ones.
func (w *walk) namedCount(suspects []suspect) int {
	n, first := 1, suspects[0]
	for n < len(suspects) && n < fewBecause && suspects[n].rank == first.rank && w.outcomes[suspects[n].index] == w.outcomes[first.index] {
		n++
	}
	return n
}

const fewBecause = 3

func joined(list []Predecessor) string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.ID.String()
	}
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return names[0]
}
