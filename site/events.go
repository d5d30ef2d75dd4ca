package site

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// events collects the reported events.
type events []*event.Event

// Event implements event.Reporter.
func (es *events) Event(e *event.Event) { *es = append(*es, e.Clone()) }

func (es *events) list() []spec.Event {
	var out []spec.Event
	for _, e := range *es {
		out = append(out, spec.Event{ID: e.Resource.ID.String(), Outcome: e.Outcome.String(), Pos: e.Resource.Pos, Reason: whyOf(e)})
	}
	return out
}

// unsettled returns the events of resources that a run would change, or may change.
func (es *events) unsettled() []spec.Event {
	var out []spec.Event
	for i, e := range *es {
		if e.Outcome != event.Stable && e.Outcome != event.Skipped {
			out = append(out, (*es)[i:i+1].one())
		}
	}
	return out
}

func (es events) one() spec.Event { return es.list()[0] }

// whyOf returns the reason for an outcome: the failure, the differences, or the planned actions.
func whyOf(e *event.Event) string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case len(e.Diff) > 0:
		return resource.Decision{Diff: e.Diff}.String()
	case len(e.Actions) > 0:
		phrases := make([]string, len(e.Actions))
		for i, a := range e.Actions {
			phrases[i] = a.Phrase
		}
		return "it would be " + strings.Join(phrases, " and ")
	}
	return e.Reason
}
