package state

import (
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A resourceResult is the outcome of a resource, with its digest. The zero value is that of a stable resource, or of one
// that was changed and has no digest.
type resourceResult struct {
	outcome event.Outcome
	digest  resource.DesiredDigest
}

// setResult sets the result of a resource.
func (r *RecordWriter) setResult(e *event.Event) {
	r.noteRemoval(e)
	if r.appliedRecord == nil {
		return
	}
	id := e.Resource.ID
	r.appliedRecord.noteMade(e)
	if e.Outcome != event.Stable || e.DesiredDigest != (resource.DesiredDigest{}) || r.results != nil {
		if at, ok := r.position(e); ok {
			r.setOutcome(at, e)
		}
	}
	if r.lazy[id] && (e.Outcome == event.Stable || e.Outcome == event.Changed) {
		r.resolved[id] = e.Resource
	}
}

// setOutcome sets the result of the resource at a position.
func (r *RecordWriter) setOutcome(at int, e *event.Event) {
	if n := len(r.catalog.Resources); len(r.results) < n {
		r.results = append(r.results, make([]resourceResult, n-len(r.results))...)
	}
	switch res := &r.results[at]; {
	case e.Outcome == event.Changed && e.DesiredDigest == (resource.DesiredDigest{}):
		*res = resourceResult{}
	case e.Outcome != event.Stable || e.DesiredDigest != (resource.DesiredDigest{}):
		*res = resourceResult{e.Outcome, r.appliedRecord.keyed(e.Resource, withLazyValues(e.DesiredDigest))}
	case res.outcome != event.Changed:
		*res = resourceResult{} // it is in order now, whatever happened before
	}
}

// position returns the position of the event's resource in the applied catalog: its index in the run, unless the catalog
// was merged.
func (r *RecordWriter) position(e *event.Event) (at int, ok bool) {
	list := r.catalog.Resources
	if e.Index < len(list) && list[e.Index].ID == e.Resource.ID {
		return e.Index, true
	}
	if r.positions == nil {
		r.positions = make(map[resource.ID]int, len(list))
		for i, x := range list {
			r.positions[x.ID] = i
		}
	}
	at, ok = r.positions[e.Resource.ID]
	return at, ok
}

// noteLazy notes a resource with lazy values.
func (r *RecordWriter) noteLazy(x *resource.Resource) {
	if len(x.LazyProperties) == 0 {
		return
	}
	if r.lazy == nil {
		r.lazy, r.resolved = make(map[resource.ID]bool), make(map[resource.ID]*resource.Resource)
	}
	r.lazy[x.ID] = true
}

// merged returns the resources of two catalogs. Where both have a resource, the declaration of
// the second takes its place in the first.
func merged(first, second *catalog.Catalog) *catalog.Catalog {
	at := make(map[resource.ID]int, len(first.Resources))
	all := &catalog.Catalog{Resources: slices.Clone(first.Resources), Excluded: first.Excluded}
	for i, r := range all.Resources {
		at[r.ID] = i
	}
	for _, r := range second.Resources {
		if i, ok := at[r.ID]; ok {
			if r.Skip == "" {
				all.Resources[i] = r
			}
			continue
		}
		at[r.ID] = len(all.Resources)
		all.Resources = append(all.Resources, r)
	}
	return all
}
