package report

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// Failures reports events as Text does, and repeats failures at the end of the report that have scrolled away.
type Failures struct {
	Text    Text
	HasSudo bool // the command has --sudo, and this is not root
	// Rows is the number of lines of the screen; 0 if unknown.
	Rows int

	failures []pastFailure
	denied   int // failures, also expected ones, because of missing rights
	lines    int // that were reported of resources that did not fail
}

// A pastFailure is a failure and the value of Failures.lines when it was reported.
type pastFailure struct {
	event event.Event
	lines int
}

var _ event.Reporter = (*Failures)(nil)

// Event implements event.Reporter.
func (f *Failures) Event(e *event.Event) {
	lines := f.Text.report(e)
	if isDenied(e) {
		f.denied++
	}
	if e.Fails() {
		f.failures = append(f.failures, pastFailure{*e, f.lines})
	} else {
		f.lines += lines
	}
}

// isDenied reports whether a resource fails, or would fail, because the user of this process
// lacks a permission.
func isDenied(e *event.Event) bool {
	err := e.Err
	if (e.Outcome == event.Unknown || e.Uncertain) && e.Forecast != nil {
		err = e.Forecast.Err
	}
	return errors.Is(err, fs.ErrPermission)
}

// TellRights reports once, for all failures, how to get the missing rights.
func (f *Failures) TellRights() {
	if f.denied == 0 || !f.HasSudo {
		return
	}
	does := "fails"
	if f.denied > 1 {
		does = "fail"
	}
	terminal.Fprintf(f.Text.W, "%s %s for lack of permission: run it as root with --sudo\n", words.Count(f.denied, "resource"), does)
}

// defaultRows is the number of lines after which a failure is repeated if the size of the screen is not known.
const defaultRows = 24

// Tell repeats the failures after which more than a screen was reported of other resources.
func (f *Failures) Tell() {
	n := 0
	for n < len(f.failures) && f.lines-f.failures[n].lines > cmp.Or(f.Rows, defaultRows) {
		n++
	}
	if n > 0 {
		terminal.Fprintf(f.Text.W, "%s above:\n", words.Count(n, "resource failed", "resources failed"))
	}
	for i := range n {
		f.Text.Event(&f.failures[i].event)
	}
	f.failures = nil
}
