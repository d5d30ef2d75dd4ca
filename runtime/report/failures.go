package report

import (
	"errors"
	"io/fs"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Failures repeats the failures at the end of a report, if another resource was reported after
// the first one.
type Failures struct {
	Text    Text
	HasSudo bool // the command has --sudo, and this is not root

	failures []event.Event
	denied   int  // failures, also expected ones, because of missing rights
	since    bool // another resource was reported since the first failure
}

var _ event.Reporter = (*Failures)(nil)

// Event implements event.Reporter.
func (f *Failures) Event(e *event.Event) {
	if isDenied(e) {
		f.denied++
	}
	switch {
	case e.Fails():
		f.failures = append(f.failures, *e)
	case len(f.failures) > 0 && f.Text.tells(e):
		f.since = true
	}
}

// isDenied reports whether a resource fails, or would fail, because the user of this process
// lacks a permission.
func isDenied(e *event.Event) bool {
	err := e.Err
	if e.Outcome == event.Unknown && e.Forecast != nil {
		err = e.Forecast.Err
	}
	return errors.Is(err, fs.ErrPermission)
}

// TellRights tells once, for all failures, how to get the missing rights.
func (f *Failures) TellRights() {
	if f.denied == 0 || !f.HasSudo {
		return
	}
	does := "fails"
	if f.denied > 1 {
		does = "fail"
	}
	terminal.Fprintf(f.Text.W, "%s %s for lack of permission: --sudo does all of this as root\n", count(f.denied, "resource", "resources"), does)
}

// Tell prints the failures again, unless nothing was reported after the first of them: then they
// are the end of the report already.
func (f *Failures) Tell() {
	if !f.since {
		return
	}
	terminal.Fprintf(f.Text.W, "%s, as told above:\n", count(len(f.failures), "resource failed", "resources failed"))
	for i := range f.failures {
		f.Text.Event(&f.failures[i])
	}
}
