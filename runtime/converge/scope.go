package converge

import (
	"fmt"

	"github.com/luaccm/ccm/runtime/resource"
)

// noop reports whether nothing is to be done about r: in a plan, and for what a
// manifest or script declares that is applied so.
func (w *walk) noop(r *resource.Resource) bool {
	return w.planning() || r.Restraint() == resource.Noop
}

// monitorOnly reports whether only the health checks of r are run.
func (w *walk) monitorOnly(r *resource.Resource) bool {
	return w.MonitorOnly || r.Restraint() == resource.MonitorOnly
}

// recordScopeFailure ends the scope of a resource that failed, if fail_on_error is set in it.
func (w *walk) recordScopeFailure(r *resource.Resource) {
	if r.Scope == nil || !r.Scope.FailOnError {
		return
	}
	if w.scopeEndReasons == nil {
		w.scopeEndReasons = make(map[*resource.Scope]string)
	}
	w.scopeEndReasons[r.Scope] = fmt.Sprintf("fail_on_error is set in %s and %s failed", r.Scope.File, r.ID)
}

// scopeEndReason returns why the scope of r has ended, or "".
func (w *walk) scopeEndReason(r *resource.Resource) string {
	if w.scopeEndReasons == nil {
		return ""
	}
	for s := r.Scope; s != nil; s = s.Parent {
		if why, ok := w.scopeEndReasons[s]; ok {
			return why
		}
	}
	return ""
}

// recordUnmet skips a resource because of what it comes after. A composite has failed with
// its parts.
func (w *walk) recordUnmet(ev *Event) {
	if !resource.FailsWithParts(ev.Resource.Spec) {
		return
	}
	failed := 0
	for _, d := range w.catalog.Deps[ev.Index] {
		if part := w.catalog.Resources[d.Index]; part.Scope != nil && part.Scope.Apply == ev.Resource.ID && w.blocks[d.Index] {
			failed++
		}
	}
	if failed > 0 {
		ev.Outcome, ev.Err, ev.Unmet = Failed, fmt.Errorf("%d of what it applies failed or was skipped: %s", failed, ev.Reason), nil
		ev.Reason = ""
	}
}
