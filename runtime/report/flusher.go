package report

import (
	"bufio"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Flusher flushes a buffered report when somebody may be waiting for it: before a resource is
// acted on, and after each event that is not stable. It comes after the reporter that writes to
// W.
type Flusher struct{ W *bufio.Writer }

var _ event.ActionReporter = Flusher{}

// BeforeAction implements event.ActionReporter.
func (f Flusher) BeforeAction(*resource.Resource, int, int) { _ = f.W.Flush() }

// Event implements event.Reporter.
func (f Flusher) Event(e *event.Event) {
	if e.Outcome != event.Stable {
		_ = f.W.Flush()
	}
}
