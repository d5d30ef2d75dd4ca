package converge

import (
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A grouping says which resources may be worked on together with their neighbours, from how they are
// declared and what became of those before them. It does nothing itself.
type grouping struct {
	*Engine
	*progress
}

// isIndependent reports whether resource i depends on none of those from first on that may have changed something.
func (g *grouping) isIndependent(i, first int) bool {
	for _, d := range g.catalog.Deps[i] {
		if d.Index >= first && g.outcomes[d.Index] != event.Stable {
			return false
		}
	}
	return true
}

// batchable reports whether the file of resource i may be written together with
// others: nothing is done between its change and the next resource.
func (g *grouping) batchable(i int) bool {
	r := g.catalog.Resources[i]
	_, _, bounded := resource.BoundsOf(r.Spec)
	return bounded && !g.planning && g.mayWait(i)
}

// mayWait reports whether resource i may be acted on after the next ones were looked at:
// nothing else is done for it before the next resource, and its failure would not end the
// walk.
func (g *grouping) mayWait(i int) bool {
	r := g.catalog.Resources[i]
	return !g.Sequential && !g.editing && g.continuesAfter(r) && r.Skip == "" && r.Resolve == nil &&
		r.Restraint() != resource.Noop && !g.monitorsOnly(r) && r.Common.IsPlain()
}

// mayDefer reports whether resource i may be verified after the next ones were acted on:
// nothing else is done for it before the next resource, and its failure would not end the
// walk.
func (g *grouping) mayDefer(i int) bool {
	r := g.catalog.Resources[i]
	return resource.HasToSettle(r.Spec) && !g.planning && !g.Sequential && !g.editing && g.continuesAfter(r) &&
		r.Common.IsPlain()
}

// editedFile returns the file that resource i edits, "" if it has to have a write
// of its own: because something is done between that and the next resource, or
// because its time is measured.
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
