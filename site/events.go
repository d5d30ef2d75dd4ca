package site

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
)

// events collects what is reported.
type events []*converge.Event

// Begin implements converge.Reporter.
func (*events) Begin(*resource.Resource, int, int) {}

// Event implements converge.Reporter.
func (es *events) Event(e *converge.Event) { *es = append(*es, e.Clone()) }

// An eventFunc takes each event when it is reported, and holds on to none.
type eventFunc func(*converge.Event)

// Begin implements converge.Reporter.
func (eventFunc) Begin(*resource.Resource, int, int) {}

// Event implements converge.Reporter.
func (f eventFunc) Event(e *converge.Event) { f(e) }

func (es *events) list() []spec.Event {
	var out []spec.Event
	for _, e := range *es {
		out = append(out, spec.Event{ID: e.Resource.ID.String(), Outcome: e.Outcome.String(), Pos: e.Resource.Pos, Why: whyOf(e)})
	}
	return out
}

// unsettled returns those that a run would change, or may.
func (es *events) unsettled() []spec.Event {
	var out []spec.Event
	for i, e := range *es {
		if e.Outcome != converge.Stable && e.Outcome != converge.Skipped {
			out = append(out, (*es)[i:i+1].one())
		}
	}
	return out
}

func (es events) one() spec.Event { return es.list()[0] }

// whyOf says why a resource is what it is: what failed, what differs, or what
// would be done.
func whyOf(e *converge.Event) string {
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
