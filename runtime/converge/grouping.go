package converge

import (
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A grouping says which resources may be worked on together with their neighbors. It judges by
// their declarations and by the outcomes before them, and changes nothing.
type grouping struct {
	*Engine
	*walkState
}

// isIndependent reports whether resource i depends on no resource from first on that may have
// changed something.
func (g *grouping) isIndependent(i, first int) bool {
	for _, d := range g.catalog.Deps[i] {
		if d.Index >= first && g.outcomes[d.Index] != event.Stable {
			return false
		}
	}
	return true
}

// batchable reports whether the file of resource i may be written together with others: no other
// work is due between its change and the next resource.
func (g *grouping) batchable(i int) bool {
	r := g.catalog.Resources[i]
	_, _, bounded := resource.BoundsOf(r.Spec)
	return bounded && !g.planning && g.mayWait(i)
}

// mayWait reports whether resource i may be acted on after the next resources were looked at: no
// other work is due before the next resource, and a failure would not end the walk.
func (g *grouping) mayWait(i int) bool {
	r := g.catalog.Resources[i]
	return !g.Sequential && !g.closed && g.continuesAfter(r) && r.Skip == "" && r.Resolve == nil &&
		r.Restraint() != resource.Noop && !g.monitorsOnly(r) && r.Common.IsPlain()
}

// mayDefer reports whether resource i may be verified after the next resources were acted on: no
// other work is due before the next resource, and a failure would not end the walk.
func (g *grouping) mayDefer(i int) bool {
	r := g.catalog.Resources[i]
	return resource.TraitsOf(r.Spec).SettleTime > 0 && !g.planning && !g.Sequential && !g.closed && g.continuesAfter(r) &&
		r.Common.IsPlain()
}

// editedFile returns the file that resource i edits. It is "" if the resource needs a write of
// its own, because other work is due before the next resource or its time is measured.
func (g *grouping) editedFile(i int) string {
	r := g.catalog.Resources[i]
	x, ok := r.Spec.(resource.FileEditor)
	if !ok || r.Skip != "" || r.Resolve != nil || g.noop(r) || g.monitorsOnly(r) || !r.Common.IsPlain() || r.Type.Refreshable() {
		return ""
	}
	return x.EditedFile()
}

// continuesAfter reports whether the walk goes on if r fails.
func (e *Engine) continuesAfter(r *resource.Resource) bool {
	if e.FailOnError {
		return false
	}
	for s := r.Scope; s != nil; s = s.Parent {
		if s.FailOnError {
			return false
		}
	}
	return true
}
