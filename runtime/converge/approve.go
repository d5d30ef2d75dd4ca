package converge

import (
	"errors"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/redact"
)

// ErrDeclined is what [Engine.Approve] returns for a resource that is not to be acted on.
var ErrDeclined = errors.New("it was declined")

// approves asks [Engine.Approve] whether the event's resource may be acted on. If not, the event
// gets the outcome. Approve sees the event as c redacts it.
func (e *Engine) approves(c *redact.Redactor, ev *event.Event) bool {
	if e.Approve == nil {
		return true
	}
	shown := *ev
	shown.Outcome = event.Pending
	c.Event(&shown)
	err := e.Approve(&shown)
	if err == nil {
		return true
	}
	ev.Refreshed, ev.RefreshedBy, ev.PendingRefreshes, ev.Cause = false, nil, nil, event.NoCause
	ev.Actions, ev.Diff, ev.Text = nil, nil, nil
	if errors.Is(err, ErrDeclined) {
		ev.Outcome, ev.Reason, ev.Declined = event.Skipped, err.Error(), true
		return false
	}
	ev.Outcome, ev.Err = event.Failed, err
	return false
}
