// Package forecast decides what a plan can know. A pending resource may change the state of a
// later one. The package finds such suspects, makes the outcome of the later resource unknown
// because of them, and forecasts that outcome. It changes nothing on the machine.
package forecast

import (
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// Options is what a [Forecaster] needs to know of a walk.
type Options struct {
	Catalog *catalog.Catalog
	// View is the view of the walk. In a plan it has the effects of pending resources.
	View *host.View
	// Planning is set for a plan, and not for a run with resources that are only planned.
	Planning bool
	// Past is set if the machine is compared with what was applied last: no run follows.
	Past bool
	// Outcomes are the outcomes so far, by resource. The engine writes them.
	Outcomes []event.Outcome
	// Provider returns the provider of a resource.
	Provider func(r *resource.Resource) (*resource.Binding, error)
	// Texts asks for the content before and after of files that would change.
	Texts bool
}

// planState is what a plan knows of the resources so far.
type planState struct {
	catalog  *catalog.Catalog
	view     *host.View
	outcomes []event.Outcome
	// unsettled has the pending and unknown resources in order. Resources that are only planned
	// are in onlyPlanned instead: a run does nothing about them.
	unsettled, onlyPlanned []int
}

// A Forecaster reports in a plan which resources have an unknown outcome, because of which pending
// ones, and what a run may do about them. It lays these effects over the view of later resources.
// In a run it does so for resources that are only planned. Then it knows less: the view has no
// effects there.
type Forecaster struct {
	*planState
	suspects *suspectFinder
	planning bool
	past     bool
	texts    bool
	provider func(r *resource.Resource) (*resource.Binding, error)
	// looks records the looks of the resource whose turn it is. It is nil where no record is
	// needed: in a run, and in a plan before anything is pending.
	looks *overlay.Looks
	// conditional is set for the resources that depend on an unknown one.
	conditional []bool
	// predictions are the answers of providers that predict many resources at once.
	predictions map[int]resource.Prediction
	// installers and removers are the resources that install or remove the resource of a name
	// besides their own (resource.Prediction).
	installers, removers map[string][]int
	deletions            []int // resources whose removals cannot be installed again
	// forecasts are the forecast outcomes of unknown resources.
	forecasts map[int]event.Outcome
	// expected are the unknown resources that will be changed, unless what is pending brings exactly
	// what they want. They are reported as pending and uncertain.
	expected map[int]bool
}

// New returns a forecaster for a walk that begins.
func New(w Options) *Forecaster {
	p := &planState{catalog: w.Catalog, view: w.View, outcomes: w.Outcomes}
	return &Forecaster{
		planState: p, suspects: &suspectFinder{planState: p}, planning: w.Planning, past: w.Past, texts: w.Texts, provider: w.Provider,
		conditional: make([]bool, len(w.Catalog.Resources)),
	}
}

// Recording returns v for the resource whose turn it is. In a plan with a pending resource, the
// returned view records what is looked at.
func (f *Forecaster) Recording(v *host.View) *host.View {
	if !f.planning || len(f.unsettled) == 0 {
		f.looks = nil
		return v
	}
	looks := f.newLooks()
	if looks.Answers == nil {
		looks.Answers = new(overlay.Answers)
	}
	f.looks = looks
	return v.Recording(looks)
}

// newLooks returns an empty record of looks for the resource whose turn it is. Each command runs
// once for one record.
func (f *Forecaster) newLooks() *overlay.Looks {
	looks := new(overlay.Looks)
	if f.looks != nil {
		looks.Answers = f.looks.Answers
	}
	return looks
}

// PrefetchedCounts reports whether a prefetched state counts for the spec of the resource whose turn
// it is: no pending resource can make a difference to it.
func (f *Forecaster) PrefetchedCounts(spec any) bool {
	return f.looks == nil || f.IsCertain(spec)
}

// IsCertain reports whether no pending resource can make a difference to the state of a spec, besides through the view.
func (f *Forecaster) IsCertain(spec any) bool {
	return !f.planning || len(f.unsettled) == 0 || len(f.suspects.effects.list) == 0 && !f.view.Overlay().IsDoubtful() && resource.TraitsOf(spec).MayPrefetch
}

// EndTurn ends the turn of the event's resource. It reports whether later resources may look
// different because of it: it is pending or unknown, and not only planned.
func (f *Forecaster) EndTurn(ev *event.Event) (unsettled bool) {
	defer func() { f.looks = nil }()
	if ev.Outcome != event.Pending && ev.Outcome != event.Unknown {
		return false
	}
	if ev.Outcome == event.Unknown && ev.Forecast != nil {
		if f.forecasts == nil {
			f.forecasts = make(map[int]event.Outcome)
		}
		f.forecasts[ev.Index] = ev.Forecast.Outcome
	}
	f.recordExpected(ev)
	if ev.Resource.IsOnlyPlanned() {
		f.onlyPlanned = append(f.onlyPlanned, ev.Index)
		return false
	}
	f.unsettled = append(f.unsettled, ev.Index)
	return true
}

// isUnsettled reports whether resource k, whose turn is over, is pending or unknown, and not only
// planned.
func (p *planState) isUnsettled(k int) bool {
	o := p.outcomes[k]
	return (o == event.Pending || o == event.Unknown) && !p.catalog.Resources[k].IsOnlyPlanned()
}

// isPending reports whether x is the index of a pending resource.
func (p *planState) isPending(x any) bool {
	k, ok := x.(int)
	return ok && p.outcomes[k] == event.Pending
}
