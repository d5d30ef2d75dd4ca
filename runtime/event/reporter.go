package event

import "github.com/luaccm/ccm/runtime/resource"

// A Reporter gets the events of a run, in order and from one goroutine.
type Reporter interface {
	// Event is called for every resource. The event is reused for later resources, so a reporter keeps
	// a copy ([Event.Clone]).
	Event(e *Event)
}

// A ReporterFunc is called with each event.
type ReporterFunc func(*Event)

// Event implements [Reporter].
func (f ReporterFunc) Event(e *Event) { f(e) }

// An ActionReporter is a Reporter that is notified of actions before they happen.
type ActionReporter interface {
	Reporter
	// BeforeAction is called before the actions of a resource, with its place in the run.
	BeforeAction(r *resource.Resource, index, total int)
}
