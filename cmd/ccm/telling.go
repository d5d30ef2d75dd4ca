package main

import (
	"context"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
)

// A telling tells scripts what becomes of resources, for values that are known
// later and for functions that wait for that.
type telling struct {
	ctx     context.Context // of the run
	scripts []*luaapi.Interp
	explain func(error) // is told of mistakes in these functions
	failed  bool        // there was one
}

var _ converge.Reporter = (*telling)(nil)

// tellScripts has an engine tell the scripts of a site what it does, last of all,
// if one of them waits for it.
func (s *site) tellScripts(ctx context.Context, engine *converge.Engine, explain func(error)) *telling {
	t := &telling{ctx: ctx, explain: explain}
	for _, in := range s.scripts {
		if in.NeedsResults() {
			in.ClearResults()
			t.scripts = append(t.scripts, in)
		}
	}
	if len(t.scripts) > 0 {
		engine.Reporter, engine.Outputs = converge.Reporters{engine.Reporter, t}, true
	}
	return t
}

// Begin implements converge.Reporter.
func (*telling) Begin(*resource.Resource, int, int) {}

// Event implements converge.Reporter.
func (t *telling) Event(ev *converge.Event) {
	fate := luaapi.Result{
		Outcome: ev.Outcome.String(), Changed: ev.Outcome == converge.Changed, Failed: ev.Outcome == converge.Failed,
		Planned: ev.Noop, Command: ev.Ran,
	}
	for _, in := range t.scripts {
		if err := in.SetResult(t.ctx, ev.Resource.ID, fate); err != nil {
			t.failed = true
			t.explain(err)
		}
	}
}
