package site

import (
	"context"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A scriptReporter tells scripts the outcome of resources, for values that are known
// later and for functions that wait for that.
type scriptReporter struct {
	ctx     context.Context // of the run
	scripts []*luaapi.Interp
	explain func(error) // takes the mistakes in these functions
	failed  bool        // there was one
}

var _ event.Reporter = (*scriptReporter)(nil)

// reportTo has an engine report to the scripts of a site, after all others, if one
// of them waits for an outcome.
func (s *Site) reportTo(ctx context.Context, engine *converge.Engine, explain func(error)) *scriptReporter {
	r := &scriptReporter{ctx: ctx, explain: explain}
	for _, in := range s.scripts {
		if in.Results().Needed() {
			in.Results().Clear()
			r.scripts = append(r.scripts, in)
		}
	}
	if len(r.scripts) > 0 {
		engine.Reporter = event.Reporters{engine.Reporter, r}
	}
	return r
}

// Begin implements event.Reporter.
func (*scriptReporter) Begin(*resource.Resource, int, int) {}

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
