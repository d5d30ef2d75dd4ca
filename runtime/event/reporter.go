package event

import "github.com/luaccm/ccm/runtime/resource"

// A Reporter gets the events of a run, in order and from one goroutine.
type Reporter interface {
	// Begin is called before the actions of a resource, with its place in the run.
	Begin(r *resource.Resource, index, total int)
	// Event is called for every resource. The event is reused for later resources, so a reporter keeps
	// a copy ([Event.Clone]).
	Event(e *Event)
}

// Reporters passes everything on to several reporters.
type Reporters []Reporter

// Begin implements Reporter.
func (rs Reporters) Begin(r *resource.Resource, index, total int) {
	for _, x := range rs {
		x.Begin(r, index, total)
	}
}

// Event implements Reporter.
func (rs Reporters) Event(e *Event) {
	for _, x := range rs {
		x.Event(e)
	}
}
