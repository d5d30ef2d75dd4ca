package state

import (
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A resourceResult is the outcome of a resource that was not stable, with its digest.
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
	switch {
	case e.Outcome == event.Changed && e.DesiredDigest == (resource.DesiredDigest{}):
		delete(r.results, id) // the same as stable
	case e.Outcome != event.Stable || e.DesiredDigest != (resource.DesiredDigest{}):
		r.results[id] = resourceResult{e.Outcome, r.appliedRecord.keyed(e.Resource, withLazyValues(e.DesiredDigest))}
	case r.results[id].outcome != event.Changed:
		delete(r.results, id) // it is in order now, whatever happened before
	}
	if r.lazy[id] && (e.Outcome == event.Stable || e.Outcome == event.Changed) {
		r.resolved[id] = e.Resource
	}
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
