package report

import (
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Failures tells at the end of a long report what failed, again.
type Failures struct {
	Text   Text
	failed []converge.Event
	since  int // how many other resources were reported since the first of them
}

var _ converge.Reporter = (*Failures)(nil)

// farAbove is after how many other resources failures are told again.
const farAbove = 20

// Begin implements converge.Reporter.
func (*Failures) Begin(*resource.Resource, int, int) {}

// Event implements converge.Reporter.
func (f *Failures) Event(e *converge.Event) {
	switch {
	case e.Outcome == converge.Failed:
		f.failed = append(f.failed, *e)
	case len(f.failed) > 0 && f.Text.tells(e):
		f.since++
	}
}

// Tell prints the failures again, unless the first of them stands not far above.
func (f *Failures) Tell() {
	if f.since < farAbove {
		return
	}
	terminal.Fprintf(f.Text.W, "%s, as told above:\n", count(len(f.failed), "resource failed", "resources failed"))
	for i := range f.failed {
		f.Text.Event(&f.failed[i])
	}
}
