package converge

import (
	"context"

	"github.com/luaccm/ccm/runtime/resource"
)

// refreshSuspects returns the unknown resources that refresh resource i if they change,
// and what these are unknown because of.
func (w *walk) refreshSuspects(i int) (list []suspect) {
	for _, x := range w.catalog.Deps[i] {
		if x.Refresh && w.outcomes[x.Index] == Unknown {
			list = append(list, suspect{x.Index, declared})
		}
	}
	for _, x := range list {
		for _, deeper := range w.because[x.index] {
			list = append(list, suspect{deeper, mayBe})
		}
	}
	return mergeSuspects(nil, list)
}

// mergeSuspects returns a list and what of more is not in it.
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

// forecastRefresh notes what becomes of a resource that is as wanted, and that d
// refreshes if one of others changes: that hangs on their forecasts.
func (w *walk) forecastRefresh(ctx context.Context, ev *Event, d resource.Decision) {
	for _, x := range w.catalog.Deps[ev.Index] {
		if !x.Refresh || w.outcomes[x.Index] != Unknown {
			continue
		}
		if o, known := w.forecasts[x.Index]; !known || o == Pending {
			w.forecast(ctx, ev, d, true)
			ev.Forecast.Refresh = true
			return
		}
	}
	w.forecast(ctx, ev, resource.Decision{}, false)
}
