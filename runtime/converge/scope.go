package converge

import (
	"fmt"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// monitorsOnly reports whether only the health checks of r are run.
func (e *Engine) monitorsOnly(r *resource.Resource) bool {
	return e.MonitorOnly || r.Restraint() == resource.MonitorOnly
}

// scopeEnds has the reasons why scopes have ended.
type scopeEnds map[*resource.Scope]string

// record ends the scope of a resource that failed, if fail_on_error is set in it.
func (x *scopeEnds) record(r *resource.Resource) {
	if r.Scope == nil || !r.Scope.FailOnError {
		return
	}
	if *x == nil {
		*x = make(scopeEnds)
	}
	(*x)[r.Scope] = fmt.Sprintf("fail_on_error is set in %s and %s failed", r.Scope.File, r.ID)
}

// reason returns why the scope of r has ended, or "".
func (x scopeEnds) reason(r *resource.Resource) string {
	for s := r.Scope; s != nil && len(x) > 0; s = s.Parent {
		if why, ok := x[s]; ok {
			return why
		}
	}
	return ""
}

// failWithParts turns the skip of a composite into a failure if some of its parts failed or were
// skipped.
func failWithParts(c *catalog.Catalog, unmet []bool, ev *event.Event) {
	if resource.TraitsOf(ev.Resource.Spec).Child == nil {
		return
	}
	failed := 0
	for _, d := range c.Deps[ev.Index] {
		if part := c.Resources[d.Index]; part.Scope != nil && part.Scope.Apply == ev.Resource.ID && unmet[d.Index] {
			failed++
		}
	}
	if failed > 0 {
		ev.Outcome, ev.Err, ev.Unmet = event.Failed, fmt.Errorf("%d of its resources failed or were skipped: %s", failed, ev.Reason), nil
		ev.Reason = ""
	}
}
