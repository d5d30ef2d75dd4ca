package site

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
)

// A scriptReporter tells scripts the outcomes of resources, for lazy values and for functions
// that wait for an outcome.
type scriptReporter struct {
	ctx     context.Context // of the run
	scripts []*luaapi.Interp
	explain func(error) // takes the errors of these functions
	failed  bool        // one of these functions failed
}

var _ event.Reporter = (*scriptReporter)(nil)

// reportTo makes an engine report to the scripts of a site, after all other reporters, if a
// script waits for an outcome.
func (s *Site) reportTo(ctx context.Context, engine *converge.Engine, explain func(error)) *scriptReporter {
	r := &scriptReporter{ctx: ctx, explain: explain}
	for _, in := range s.scripts {
		if in.Results().Needed() {
			in.Results().Clear()
			r.scripts = append(r.scripts, in)
		}
	}
	if len(r.scripts) > 0 {
		engine.Reporters = append(slices.Clip(engine.Reporters), r)
	}
	return r
}

// Event implements event.Reporter.
func (r *scriptReporter) Event(ev *event.Event) {
	result := luaapi.Result{
		Outcome: ev.Outcome.String(), Changed: ev.Outcome == event.Changed, Failed: ev.Outcome == event.Failed,
		Planned: ev.Noop, Command: ev.Command,
	}
	for _, in := range r.scripts {
		if err := in.Results().Set(r.ctx, ev.Resource.ID, result); err != nil {
			r.failed = true
			r.explain(err)
		}
	}
}
