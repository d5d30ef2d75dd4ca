package main

import (
	"context"
	"fmt"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// checkIdempotent looks a second time at a machine that was converged and reports
// what a second run would change, or may. It returns whether there is nothing.
func (e *env) checkIdempotent(ctx context.Context, s *site, v *host.View) bool {
	var second events
	engine := &converge.Engine{Registry: s.registry, Facts: s.facts, Reporter: &second, Stop: e.stop, Secrets: e.secrets}
	s.tellScripts(ctx, engine, e.explain)
	engine.Plan(ctx, v, s.catalog)
	var list diag.List
	for _, again := range second.unsettled() {
		list.Add(&diag.Error{Pos: again.Pos, Subject: again.ID, Err: fmt.Errorf("a second run would find it %s: %s", again.Outcome, again.Why)})
	}
	if len(list) == 0 {
		return true
	}
	e.explain(list) // in the order of the catalog
	return false
}
