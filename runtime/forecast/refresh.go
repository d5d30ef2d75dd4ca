package forecast

import (
	"context"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// refreshing returns the unknown resources that refresh resource i if they change, and the
// suspects of these resources.
func (s *suspectFinder) refreshing(i int) (list []suspect) {
	for _, x := range s.catalog.Deps[i] {
		if x.Refresh && s.outcomes[x.Index] == event.Unknown && s.catalog.Resources[i].ConcernedBy(s.catalog.Resources[x.Index]) && len(list) < mostSuspects {
			list = append(list, suspect{x.Index, declared})
		}
	}
	for _, x := range list {
		for _, deeper := range s.suspectsOf[x.index] {
			list = append(list, suspect{deeper, mayBe})
		}
	}
	return mergeSuspects(nil, list)
}

// mergeSuspects returns list and, behind it, the suspects of more that are not in it.
func mergeSuspects(list, more []suspect) []suspect {
	known := make(map[int]bool, len(list))
	for _, x := range list {
		known[x.index] = true
	}
	for _, x := range more {
		if !known[x.index] {
			known[x.index] = true
			list = append(list, x)
		}
	}
	return list
}

// forecastRefresh records the forecast of a resource that is stable unless an unknown resource
// refreshes it: it follows from the forecasts of these. D is the decision with a refresh. Only
// says that the state is known, so that nothing is done without a refresh.
func (f *Forecaster) forecastRefresh(ctx context.Context, ev *event.Event, d resource.Decision, only bool) {
	for _, x := range f.catalog.Deps[ev.Index] {
		if !x.Refresh || f.outcomes[x.Index] != event.Unknown || !ev.Resource.ConcernedBy(f.catalog.Resources[x.Index]) {
			continue
		}
		if o, known := f.forecasts[x.Index]; !known || o == event.Pending {
			f.forecast(ctx, ev, d, true)
			ev.Forecast.Refresh = true
			return
		}
	}
	f.forecastOutcome(ctx, ev, resource.Decision{}, false)
	if only && d.Err == nil && d.Complete {
		f.assumePossible(ev.Index, d.Effects)
		return
	}
	f.assumeMayAct(ev, &resource.Decision{})
}
