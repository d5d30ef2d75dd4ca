package report

import (
	"errors"
	"io/fs"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Failures tells at the end of a report what failed, again, if anything was told after it.
type Failures struct {
	Text    Text
	HasSudo bool // the command has --sudo, and this is not root

	failures []event.Event
	denied   int  // how many failed, or would, because this user may not
	since    bool // another resource was told since the first of them
}

var _ event.Reporter = (*Failures)(nil)

// Begin implements event.Reporter.
func (*Failures) Begin(*resource.Resource, int, int) {}

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

// isDenied reports whether a resource fails, or would, because the user of this process may
// not do something.
func isDenied(e *event.Event) bool {
	err := e.Err
	if e.Outcome == event.Unknown && e.Forecast != nil {
		err = e.Forecast.Err
	}
	return errors.Is(err, fs.ErrPermission)
}

// TellRights says how to have the rights that were lacking, once for all failures.
func (f *Failures) TellRights() {
	if f.denied == 0 || !f.HasSudo {
		return
	}
	does := "fails"
	if f.denied > 1 {
		does = "fail"
	}
	terminal.Fprintf(f.Text.W, "%s %s for want of rights: --sudo does all of this as root\n", count(f.denied, "resource", "resources"), does)
}

// Tell prints the failures again, unless nothing else was told after the first of them: then they are the end of the
// report already.
func (f *Failures) Tell() {
	if !f.since {
		return
	}
	terminal.Fprintf(f.Text.W, "%s, as told above:\n", count(len(f.failures), "resource failed", "resources failed"))
	for i := range f.failures {
		f.Text.Event(&f.failures[i])
	}
}
