package session

import (
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A priorResource is the target of references to a resource of an earlier process.
type priorResource struct {
	id      resource.ID
	alias   string
	outcome event.Outcome
	cause   event.Cause // of the changes that count; NoCause if there are none
}

// Settle adds the resources that earlier processes dealt with to b, so that what
// is declared there can refer to them, and returns what became of them and why, as
// [converge.Engine] wants it. What b declares itself is not among them. In a
// plan, what earlier plans reported counts too; a run goes by what was done.
//
// An earlier resource counts as changed if it changed since id, subscribing to it,
// last converged: a subscriber is refreshed once for each change, and
// again if its refresh did not succeed. An action that began and of which no event
// reports counts as a change that failed: the process that took it died.
func (s *Session) Settle(b *catalog.Builder, reg *resource.Registry, id resource.ID, plan bool) (settled map[resource.ID]event.Outcome, causes map[resource.ID]event.Cause, err error) {
	own := b.Resources()
	if !slices.ContainsFunc(own, refers) {
		return nil, nil, nil
	}
	records, err := s.Entries()
	if err != nil {
		return nil, nil, err
	}
	settled, causes = make(map[resource.ID]event.Outcome), make(map[resource.ID]event.Cause)
	for _, e := range settle(records, id, plan) {
		t := reg.Type(e.id.Type)
		declared := slices.ContainsFunc(own, func(r *resource.Resource) bool { return r.ID == e.id })
		if t == nil || declared {
			continue
		}
		from := resource.Origin{Pos: diag.Pos{File: "an earlier command"}, Skip: "an earlier command of the session handled it"}
		if _, err := b.Add(t.NewSkipped(e.id.Name, e.alias, nil, from)); err != nil {
			return nil, nil, err
		}
		settled[e.id], causes[e.id] = e.outcome, e.cause
	}
	return settled, causes, nil
}

// refers reports whether a resource speaks of others.
func refers(r *resource.Resource) bool {
	c := r.Common
	return len(c.Require)+len(c.Before)+len(c.Notify)+len(c.Subscribe) > 0
}

// settle returns the resources of the entries, in the order of their first entries.
func settle(records []Entry, id resource.ID, plan bool) []priorResource {
	var ids []resource.ID
	latest := make(map[resource.ID]Entry)
	changed := make(map[resource.ID]bool)
	causes := make(map[resource.ID]event.Cause)
	for _, r := range records {
		if r.Noop && !plan {
			continue
		}
		x := r.id()
		if _, known := latest[x]; !known {
			ids = append(ids, x)
		}
		latest[x] = r
		if r.isBegin() || r.Changed {
			changed[x] = true
		}
		if r.Changed {
			causes[x] = alsoFor(causes[x], event.ParseCause(r.Reason))
		}
		if x == id && !r.Noop && inOrder(r) {
			for _, ref := range r.Subscribe {
				delete(changed, resolve(ref, latest))
				delete(causes, resolve(ref, latest))
			}
		}
	}
	out := make([]priorResource, len(ids))
	for i, x := range ids {
		out[i] = priorResource{id: x, alias: latest[x].Alias, outcome: outcome(latest[x], changed[x]), cause: causes[x]}
	}
	return out
}

// alsoFor returns the cause of two changes of the same resource: corrective only if both are.
func alsoFor(first, second event.Cause) event.Cause {
	if first == event.NoCause || first == second {
		return second
	}
	return event.Intended
}

// resolve returns the resource with a name or alias.
func resolve(ref string, latest map[resource.ID]Entry) resource.ID {
	id, err := resource.ParseID(ref)
	if _, known := latest[id]; known || err != nil {
		return id
	}
	for x, r := range latest { // no two have the same alias
		if x.Type == id.Type && r.Alias == id.Name {
			return x
		}
	}
	return id
}

// inOrder reports whether after r a resource was as wanted.
func inOrder(r Entry) bool {
	return !r.isBegin() && (!r.Failed || r.Ignored) && !r.Skipped && len(r.UnmetRequirements) == 0
}

// outcome returns the outcome of a resource from its latest record.
func outcome(latest Entry, changed bool) event.Outcome {
	switch {
	case latest.Failed && !latest.Ignored, latest.isBegin():
		return event.Failed
	case len(latest.UnmetRequirements) > 0:
		return event.Skipped
	case latest.Outcome == event.Unknown.String():
		return event.Unknown
	case changed && latest.Noop:
		return event.Pending
	case changed:
		return event.Changed
	}
	return event.Stable
}

// Planned reports whether the session speaks of a resource only in plans.
func (s *Session) Planned(id resource.ID) bool {
	planned := false
	for _, r := range s.entries {
		if r.Type == id.Type && (r.Name == id.Name || r.Alias == id.Name) {
			if !r.Noop {
				return false
			}
			planned = true
		}
	}
	return planned
}
