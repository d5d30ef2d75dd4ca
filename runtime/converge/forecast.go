package converge

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/prefetch"
	"github.com/luaccm/ccm/runtime/resource"
)

// A forecaster says in a plan what would become of resources whose state hangs on others
// that are pending: which ones these are, and what a run may do. Later looks heed that.
type forecaster struct {
	*progress
	suspects *suspectFinder
	// prefetcher tells the providers of resources.
	prefetcher *prefetch.Prefetcher
	texts      bool // Engine.Texts
	// conditional is set for what comes after something unknown.
	conditional []bool
	// predictions is the answers of providers that predict many resources at once.
	predictions map[int]resource.Prediction
	// installers and removers are which of these install or remove a name besides their
	// own (resource.Prediction).
	installers, removers map[string][]int
	lost                 []int // those that remove what cannot be had again
	// forecasts is what would become of unknown resources.
	forecasts map[int]event.Outcome
}

// recordingView returns the view for the resource whose turn it is. In a plan in which something
// is pending already, it records in looks what is looked at through it; otherwise looks is nil.
func (f *forecaster) recordingView() (v *host.View, looks *host.Looks) {
	if !f.planning || len(f.unsettled) == 0 {
		return f.view, nil
	}
	looks = f.newLooks()
	if looks.Answers == nil {
		looks.Answers = new(host.Answers)
	}
	return f.view.Recording(looks), looks
}

// recordStatusFailure records that Status or Decide has failed. In a plan the reason may be
// something that is pending.
func (f *forecaster) recordStatusFailure(ctx context.Context, provider *resource.Binding, ev *event.Event, err error) {
	err = ev.Resource.ExplainMissing(err)
	if f.noop(ev.Resource) {
		if u, ok := errors.AsType[*resource.UnknownError](err); ok {
			recordUnknown(ev, u.Because)
			f.assumeMayAct(ev, nil)
			return
		}
	}
	f.suspects.failing = true
	defer func() { f.suspects.failing = false }()
	if isOnlyPlanned(ev.Resource) && len(f.onlyPlanned) > 0 { // nothing of what is pending there can be seen
		f.blame(ctx, nil, ev, mergeSuspects(latestFirst(f.onlyPlanned), f.suspects.of(ev.Index, f.looks)))
		ev.Forecast = &event.Forecast{Outcome: event.Failed, Err: err}
		return
	}
	suspects := f.suspects.of(ev.Index, f.looks)
	if len(suspects) == 0 {
		ev.Outcome, ev.Err = event.Failed, err
		return
	}
	d, hopeful, certain := f.forecastDecision(ctx, provider, ev)
	if certain != nil {
		ev.Outcome, ev.Err = event.Failed, ev.Resource.ExplainMissing(certain)
		return
	}
	f.blame(ctx, provider, ev, suspects)
	if !hopeful {
		switch from, ok := f.decideFromNothing(ctx, ev); {
		case ok:
			ev.Forecast = f.forecastOf(ctx, ev, from, false)
			ev.Forecast.MayExist = true
		case !f.looks.IsVague(): // else it may have been seen as what it is not
			ev.Forecast = &event.Forecast{Outcome: event.Failed, Err: err}
		}
		f.assumeMayAct(ev, nil)
		return
	}
	f.forecast(ctx, ev, d, true)
}

// latestFirst returns resources as suspects, of which the last one is the surest.
func latestFirst(list []int) (suspects []suspect) {
	for _, k := range slices.Backward(list) {
		if len(suspects) < mostSuspects {
			suspects = append(suspects, suspect{k, map[bool]rank{true: fits, false: mayBe}[len(suspects) == 0]})
		}
	}
	return suspects
}

// recordProviderFailure is lookFailed for a resource that has no provider: what brings
// its commands may be pending.
func (f *forecaster) recordProviderFailure(ctx context.Context, ev *event.Event, err error) {
	if !f.planning {
		return
	}
	f.suspects.failing = true
	defer func() { f.suspects.failing = false }()
	looks := new(host.Looks)
	f.view.Recording(looks).Plan().RecordLook(host.ProgramLook, ev.Resource.Type.Name, false)
	if suspects := f.suspects.of(ev.Index, looks); len(suspects) > 0 {
		ev.Err = nil
		f.blame(ctx, nil, ev, suspects)
		ev.Forecast = &event.Forecast{Outcome: event.Failed, Err: err}
		f.assumeMayAct(ev, nil)
	}
}

// recordForecastFailure records that the actions of a resource are going to fail, unless
// something pending prevents that.
func (f *forecaster) recordForecastFailure(ctx context.Context, provider *resource.Binding, d resource.Decision, ev *event.Event, err error) {
	if !f.planning {
		ev.Outcome, ev.Err = event.Failed, err
		return
	}
	f.suspects.failing = true
	defer func() { f.suspects.failing = false }()
	suspects := f.suspects.of(ev.Index, f.looks)
	if errors.Is(err, host.ErrNeedsRoot) { // no command of this user gives the right, unless it is about that
		suspects = slices.DeleteFunc(suspects, func(x suspect) bool { return x.rank == mayBe })
	}
	if len(suspects) == 0 {
		ev.Outcome, ev.Err = event.Failed, err
		return
	}
	f.blame(ctx, provider, ev, suspects)
	f.forecast(ctx, ev, d, true)
}

// forecastDecision decides about a resource as if the missing things that suspects may bring
// were there. An error means that it would fail even then.
func (f *forecaster) forecastDecision(ctx context.Context, provider *resource.Binding, ev *event.Event) (d resource.Decision, ok bool, err error) {
	r := ev.Resource
	looks := f.newLooks()
	looks.Grant = func(l host.Look, doubts []any) bool {
		return f.suspects.mayBring(ev.Index, l) || slices.ContainsFunc(doubts, f.isPending)
	}
	v := f.view.Recording(looks)
	state, err := provider.Status(ctx, v, r.Spec)
	if err == nil {
		if d = r.Type.Decide(r.Spec, state, false); d.Err == nil {
			_, err = f.predict(ctx, v, ev.Index, provider)
			if err == nil {
				return d, true, nil
			}
		}
		if d.Err != nil {
			err = d.Err
		}
	}
	if len(f.suspects.of(ev.Index, looks)) == 0 {
		return d, false, err
	}
	if d, ok := r.Type.DecideFresh(r.Spec); ok && d.Err == nil {
		return d, true, nil
	}
	return d, false, nil
}

// forecast records the forecast of a resource that is unknown, and what it may do.
func (f *forecaster) forecast(ctx context.Context, ev *event.Event, d resource.Decision, once bool) {
	f.forecastOutcome(ctx, ev, d, once)
	f.assumeMayAct(ev, &d)
}

// forecastOutcome records the forecast of a resource that is unknown.
func (f *forecaster) forecastOutcome(ctx context.Context, ev *event.Event, d resource.Decision, once bool) {
	told, known := f.decideWithoutImagined(ctx, ev)
	fromNothing := known && makesSomething(told)
	if known && !fromNothing && told.Stable() && isRemoval(ev.Resource) && len(d.Actions) > 0 {
		once = true // what it removes is still to come
	}
	if !fromNothing {
		told = d
		if len(f.imagined(ev)) > 0 {
			told.Diff = withoutState(d.Diff)
		}
	}
	ev.Forecast = f.forecastOf(ctx, ev, told, once)
	ev.Forecast.MayExist = fromNothing || f.mayExist(ev, d)
}

// forecastOf returns the forecast that a decision gives.
func (f *forecaster) forecastOf(ctx context.Context, ev *event.Event, d resource.Decision, once bool) *event.Forecast {
	x := &event.Forecast{Outcome: event.Pending, Once: once, Diff: d.Diff, Actions: d.Actions}
	switch {
	case d.Err != nil:
		x.Outcome, x.Err = event.Failed, d.Err
	case len(d.Actions) == 0:
		x.Outcome = event.Stable
	}
	if f.texts && d.Text != nil {
		if text, err := d.Text(ctx, f.view); err == nil {
			x.Text = &text
		}
	}
	return x
}

// imagined returns who will bring something of a kind that nobody knows to the path of a
// resource. What its state says of that is made up.
func (f *forecaster) imagined(ev *event.Event) map[any]bool {
	name, _, _ := resource.BoundsOf(ev.Resource.Spec)
	if name == "" || f.looks == nil {
		return nil
	}
	return f.looks.Imagined(f.view.Plan().PathOf(name))
}

// decideFromNothing is decideWithoutImagined. It reports whether the resource would make
// something there.
func (f *forecaster) decideFromNothing(ctx context.Context, ev *event.Event) (d resource.Decision, ok bool) {
	d, known := f.decideWithoutImagined(ctx, ev)
	return d, known && makesSomething(d)
}

func makesSomething(d resource.Decision) bool {
	return d.Err == nil && d.Has("ensure") && len(d.Actions) > 0
}

// isRemoval reports whether a resource is to be absent.
func isRemoval(r *resource.Resource) bool {
	want, ok := r.Spec.(resource.EnsureReporter)
	return ok && resource.IsAbsent(want.WantedEnsure())
}

// decideWithoutImagined decides about a resource at the path of which something of a kind
// that nobody knows will stand: as if that were not there. It reports whether it could.
func (f *forecaster) decideWithoutImagined(ctx context.Context, ev *event.Event) (d resource.Decision, ok bool) {
	by := f.imagined(ev)
	if len(by) == 0 {
		return d, false
	}
	r := ev.Resource
	provider, err := f.prefetcher.Provider(r)
	if err != nil {
		return d, false
	}
	state, err := provider.Status(ctx, f.view.Without(by).Recording(f.newLooks()), r.Spec)
	if err != nil {
		return d, false
	}
	return r.Type.Decide(r.Spec, state, false), true
}

// withoutState returns differences without what there is.
func withoutState(diff []resource.Delta) []resource.Delta {
	diff = slices.Clone(diff)
	for i := range diff {
		if diff[i].Property != "ensure" {
			diff[i].Have = ""
		}
	}
	return diff
}

// mayExist reports whether the thing to create may exist by then.
func (f *forecaster) mayExist(ev *event.Event, d resource.Decision) bool {
	name, _, _ := resource.BoundsOf(ev.Resource.Spec)
	want, ok := ev.Resource.Spec.(resource.EnsureReporter)
	if name == "" || !d.Has("ensure") || ok && resource.IsAbsent(want.WantedEnsure()) {
		return false
	}
	look := host.Look{Kind: host.PathLook, Name: f.view.Plan().PathOf(name)}
	for range f.suspects.effects.matching(look, true) {
		return true
	}
	return f.suspects.ancestorsOf(ev.Index).brings
}

// assumeMayAct adds the possible effects of an unknown resource to the view for later
// resources. D is its decision as far as it is known, nil if it is not.
func (f *forecaster) assumeMayAct(ev *event.Event, d *resource.Decision) {
	r := ev.Resource
	if !f.planning || isOnlyPlanned(r) {
		return
	}
	f.mayHaveChanged = true
	if d != nil && d.Err == nil && (d.Complete || len(d.Actions) == 0 && isConfined(r)) {
		f.view.Plan().Assume(ev.Index, true, d.Effects...)
		if len(d.Actions) > 0 {
			return
		}
	}
	if paths := confinesOf(r); len(paths) > 0 {
		there := d == nil && f.willExist(r)
		for _, p := range paths {
			f.view.Plan().Assume(ev.Index, !there, host.PathEffect{Path: p, Unsure: !there, Vague: there})
		}
		return
	}
	if d != nil && len(d.Effects) > 0 {
		f.view.Plan().Assume(ev.Index, true, d.Effects...)
	}
	if x, ok := r.Type.DecideFresh(r.Spec); ok && x.Err == nil && x.Complete { // all that it can do is known
		f.assumePossible(ev.Index, x.Effects)
		return
	}
	f.suspects.addIncompleteEffect(ev.Index, d != nil && d.FilesComplete, f.predictions[ev.Index].Removes)
	f.assumeUnknown(ev.Index, resource.Decision{})
}

// assumePossible adds effects to the view that resource i may have, and is not expected to.
func (f *forecaster) assumePossible(i int, effects []host.PathEffect) {
	if !f.planning || isOnlyPlanned(f.catalog.Resources[i]) {
		return
	}
	f.mayHaveChanged = true
	for _, p := range effects {
		f.view.Plan().Assume(i, true, host.PathEffect{Path: p.Path, OfSystem: p.OfSystem, Unsure: true})
	}
}

// willExist reports whether a resource with late values will exist.
func (f *forecaster) willExist(r *resource.Resource) bool {
	want, ok := r.Spec.(resource.EnsureReporter)
	name, _, _ := resource.BoundsOf(r.Spec)
	if !ok || name == "" || len(r.Later) == 0 || slices.Contains(r.Later, "ensure") || resource.IsAbsent(want.WantedEnsure()) {
		return false
	}
	is, err := f.view.IsDirectory(path.Dir(name))
	return err == nil && is
}

// assumeUnknown makes the paths that resource i manages unknown in the view, except those in
// the effects of its decision.
func (f *forecaster) assumeUnknown(i int, d resource.Decision) {
	paths, _ := managedBy(f.catalog.Resources[i])
	for _, p := range paths {
		if !slices.ContainsFunc(d.Effects, func(x host.PathEffect) bool { return x.Path == p }) {
			f.view.Plan().Assume(i, false, host.PathEffect{Path: p, Unsure: true})
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
func (f *forecaster) recordConditions(i int) {
	if !f.planning || len(f.unsettled) == 0 {
		return
	}
	var list []suspect
	for _, d := range f.catalog.Deps[i] {
		if len(list) >= mostSuspects {
			break
		}
		if f.outcomes[d.Index] == event.Unknown && !isOnlyPlanned(f.catalog.Resources[d.Index]) {
			list = append(list, suspect{d.Index, declared})
		} else if !f.conditional[d.Index] {
			continue
		}
		for _, deeper := range f.suspects.because[d.Index] {
			list = append(list, suspect{deeper, mayBe})
		}
	}
	if f.conditional[i] = len(list) > 0; f.conditional[i] {
		f.suspects.recordBecause(i, mergeSuspects(nil, list))
	}
}

// recordUnknown records that the outcome cannot be known in a plan.
func recordUnknown(ev *event.Event, because string) { ev.Outcome, ev.Reason = event.Unknown, because }

// blame records that the outcome is unknown because of suspects. The provider, if it is
// known, finds hidden ones. Where the surest suspects are unknown themselves, the pending
// one that is behind them is told instead.
func (f *forecaster) blame(ctx context.Context, provider *resource.Binding, ev *event.Event, suspects []suspect) {
	f.blameDirect(ctx, provider, ev, f.suspects.withOrigins(suspects))
}

// withOrigins returns suspects with the pending ones first that are behind all of the surest
// ones, if these are unknown.
func (s *suspectFinder) withOrigins(suspects []suspect) []suspect {
	surest := suspects[:min(s.alikeCount(suspects), event.MostNamed)]
	if s.outcomes[surest[0].index] != event.Unknown {
		return suspects
	}
	var origins []suspect
	for _, x := range suspects {
		isOther := func(by suspect) bool { return !slices.Contains(s.because[by.index], x.index) }
		if x.rank < mayBe && s.outcomes[x.index] == event.Pending && !slices.ContainsFunc(surest, isOther) {
			origins = append(origins, suspect{x.index, surest[0].rank})
		}
	}
	return mergeSuspects(origins, suspects)
}

// blameDirect is blame that tells the surest suspects, be they unknown or not.
func (f *forecaster) blameDirect(ctx context.Context, provider *resource.Binding, ev *event.Event, suspects []suspect) {
	suspects = f.hiddenSuspects(ctx, provider, ev, suspects[:min(len(suspects), mostSuspects)])
	f.suspects.recordBecause(ev.Index, suspects)
	list := make([]event.Predecessor, len(suspects))
	for k, x := range suspects {
		list[k] = event.Predecessor{ID: f.catalog.Resources[x.index].ID, Outcome: f.outcomes[x.index]}
	}
	more := 0
	if len(suspects) == mostSuspects {
		more = max(0, len(f.unsettled)-mostSuspects)
	}
	ev.Blame(list, f.suspects.alikeCount(suspects), more, suspects[0].rank < mayBe)
}

// recordBecause records the suspects of resource i.
func (s *suspectFinder) recordBecause(i int, suspects []suspect) {
	if s.because == nil {
		s.because = make(map[int][]int)
	}
	for _, x := range suspects {
		if len(s.because[i]) < mostSuspects && !slices.Contains(s.because[i], x.index) {
			s.because[i] = append(s.because[i], x.index)
		}
	}
}

// recordForecast records the forecast of a resource that is unknown, for later ones.
func (f *forecaster) recordForecast(ev *event.Event) {
	if ev.Forecast == nil || ev.Outcome != event.Unknown {
		return
	}
	if f.forecasts == nil {
		f.forecasts = make(map[int]event.Outcome)
	}
	f.forecasts[ev.Index] = ev.Forecast.Outcome
}

// alikeCount returns how many suspects are as sure as the first. Unknown ones are left out where
// there are pending ones.
func (s *suspectFinder) alikeCount(suspects []suspect) int {
	n, first := 1, suspects[0]
	for n < len(suspects) && suspects[n].rank == first.rank && s.outcomes[suspects[n].index] == s.outcomes[first.index] {
		n++
	}
	return n
}
