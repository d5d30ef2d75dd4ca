// Package forecast decides what a plan can know. A resource that is pending may change what is
// found of a later one: the package finds these suspects, says that the outcome of the later one
// is unknown because of them, and forecasts what would become of it. It changes nothing.
package forecast

import (
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Options are what a [Forecaster] has to know of a pass over a catalog.
type Options struct {
	Catalog *catalog.Catalog
	// View is what the pass looks through. In a plan, the effects of what is pending are laid
	// over it.
	View *host.View
	// Planning is set if nothing is changed in the whole pass.
	Planning bool
	// Outcomes is those of the resources so far. The engine writes it.
	Outcomes []event.Outcome
	// Provider returns the provider of a resource.
	Provider func(r *resource.Resource) (*resource.Binding, error)
	// Texts asks for the content before and after of files that would change.
	Texts bool
}

// planState is what is known of the resources so far.
type planState struct {
	catalog  *catalog.Catalog
	view     *host.View
	outcomes []event.Outcome
	// unsettled is the resources with the outcome Pending or Unknown, in order. Those of
	// onlyPlanned are apart: a run does nothing about them.
	unsettled, onlyPlanned []int
}

// A Forecaster says in a plan what would become of resources whose state hangs on others
// that are pending: which ones these are, and what a run may do. Later looks heed that. In a
// run it does so for what is only planned, and knows less: nothing is assumed there.
type Forecaster struct {
	*planState
	suspects *suspectFinder
	planning bool
	texts    bool
	provider func(r *resource.Resource) (*resource.Binding, error)
	// looks is what was looked at for the resource whose turn it is, nil where that makes no
	// difference: in a run, and in a plan before anything is pending.
	looks *host.Looks
	// conditional is set for what comes after something unknown.
	conditional []bool
	// predictions is the answers of providers that predict many resources at once.
	predictions map[int]resource.Prediction
	// installers and removers are which of these install or remove a name besides their
	// own (resource.Prediction).
	installers, removers map[string][]int
	deletions            []int // those that remove what cannot be had again
	// forecasts is what would become of unknown resources.
	forecasts map[int]event.Outcome
}

// New returns a forecaster for a pass that begins.
func New(w Options) *Forecaster {
	p := &planState{catalog: w.Catalog, view: w.View, outcomes: w.Outcomes}
	return &Forecaster{
		planState: p, suspects: &suspectFinder{planState: p}, planning: w.Planning, texts: w.Texts, provider: w.Provider,
		conditional: make([]bool, len(w.Catalog.Resources)),
	}
}

// Recording returns v for the resource whose turn it is. In a plan in which something is pending
// already, it records what is looked at through it.
func (f *Forecaster) Recording(v *host.View) *host.View {
	if !f.planning || len(f.unsettled) == 0 {
		f.looks = nil
		return v
	}
	looks := f.newLooks()
	if looks.Answers == nil {
		looks.Answers = new(host.Answers)
	}
	f.looks = looks
	return v.Recording(looks)
}

// newLooks returns an empty record of looks for the present resource. Its commands run once.
func (f *Forecaster) newLooks() *host.Looks {
	looks := new(host.Looks)
	if f.looks != nil {
		looks.Answers = f.looks.Answers
	}
	return looks
}

// MayPrefetch reports whether a state that was asked for ahead of its turn counts for the
// resource with that spec, whose turn it is: nothing that is pending can make a difference.
func (f *Forecaster) MayPrefetch(spec any) bool {
	return f.looks == nil || len(f.suspects.effects.list) == 0 && !f.view.Plan().IsDoubtful() && resource.MayPrefetch(spec)
}

// Record ends the turn of the event's resource, for those that come after it. It reports whether
// these may see something else because of it: it is pending or unknown, and not only planned.
func (f *Forecaster) Record(ev *event.Event) (unsettled bool) {
	f.looks = nil
	if ev.Outcome != event.Pending && ev.Outcome != event.Unknown {
		return false
	}
	if ev.Outcome == event.Unknown && ev.Forecast != nil {
		if f.forecasts == nil {
			f.forecasts = make(map[int]event.Outcome)
		}
		f.forecasts[ev.Index] = ev.Forecast.Outcome
	}
	if ev.Resource.IsOnlyPlanned() {
		f.onlyPlanned = append(f.onlyPlanned, ev.Index)
		return false
	}
	f.unsettled = append(f.unsettled, ev.Index)
	return true
}

// isUnsettled reports whether resource k, which had its turn, is pending or unknown, and not
// only planned.
func (p *planState) isUnsettled(k int) bool {
	o := p.outcomes[k]
	return (o == event.Pending || o == event.Unknown) && !p.catalog.Resources[k].IsOnlyPlanned()
}

// isPending reports whether x is the number of a pending resource.
func (p *planState) isPending(x any) bool {
	k, ok := x.(int)
	return ok && p.outcomes[k] == event.Pending
}
