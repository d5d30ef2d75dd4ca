package event

import "github.com/luaccm/ccm/runtime/resource"

// A Reporter gets the events of a run, in order and from one goroutine.
type Reporter interface {
	// Event is called for every resource. The event is reused for later resources, so a reporter keeps
	// a copy ([Event.Clone]).
	Event(e *Event)
}

// An ActionReporter is a Reporter that is told of actions before they happen. A reporter that wraps another
// one has to be one too.
type ActionReporter interface {
	Reporter
	// BeforeAction is called before the actions of a resource, with its place in the run.
	BeforeAction(r *resource.Resource, index, total int)
}

// Reporters passes everything on to several reporters.
type Reporters []Reporter

// BeforeAction implements ActionReporter.
func (rs Reporters) BeforeAction(r *resource.Resource, index, total int) {
	for _, x := range rs {
		if x, ok := x.(ActionReporter); ok {
			x.BeforeAction(r, index, total)
		}
	}
}

// Event implements Reporter.
func (rs Reporters) Event(e *Event) {
	for _, x := range rs {
		x.Event(e)
	}
}
