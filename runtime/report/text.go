// Package report prints the events of a run or plan, as text for people and as JSON for
// programs.
package report

import (
	"io"
	"sync"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A DiffMode selects how much of the differences is reported.
type DiffMode string

// The diff modes.
const (
	DiffOff     DiffMode = "off"     // nothing
	DiffSummary DiffMode = "summary" // properties, and numbers of lines
	DiffChanges DiffMode = "changes" // unified diffs of what stands there already besides
	DiffFull    DiffMode = "full"    // unified diffs of all
)

// Values lists the diff modes.
func (DiffMode) Values() []string { return []string{"off", "summary", "changes", "full"} }

// Text reports to people, one line for each resource that is not stable.
type Text struct {
	W       io.Writer
	Color   bool
	Verbose bool // stable resources too
	Quiet   bool // failures only
	// OneOff says that the resources were named on the command line. That they are new
	// is not reported then.
	OneOff bool
	// Drift says that the machine is compared with its last applied state: pending
	// resources have drifted, and no run follows.
	Drift bool
	Diff  DiffMode
	// DiffLines is how many lines of each unified diff are told; 0 for all.
	DiffLines int
	// Site is how the command line names the script or manifest, for advice.
	Site string
}

var _ converge.Reporter = Text{}

// Begin implements converge.Reporter.
func (Text) Begin(*resource.Resource, int, int) {}

func (t Text) paint(style terminal.Style, s string) terminal.Text {
	return style.On(t.Color).Paint(terminal.LineText(s))
}

// tells reports whether an event is told.
func (t Text) tells(e *converge.Event) bool {
	return e.Outcome == converge.Failed || !t.Quiet && (t.Verbose || e.Outcome != converge.Stable || !allWell(e.Health))
}

// Event implements converge.Reporter.
func (t Text) Event(e *converge.Event) {
	if !t.tells(e) {
		return
	}
	mark, style := symbol(e)
	b := bufferPool.Get().(*terminal.Buffer)
	defer bufferPool.Put(b)
	b.Reset()
	id := e.Resource.ID
	b.Printf("%s\n", terminal.Prose(t.W, terminal.Sprintf("%s %s#%s: ", t.paint(style, mark), id.Type, id.Name), t.story(e), whole(e)...))
	if t.tellsDifferences() {
		if made := newParts(e.Diff, e.Text); e.Outcome == converge.Failed && made != "" {
			b.Printf("    %s\n", made)
		}
		t.differences(b, e.Diff, e.Text)
		if f := e.Forecast; e.Outcome == converge.Unknown && f != nil && f.Outcome == converge.Pending {
			t.differences(b, f.Diff, f.Text)
		}
	}
	if e.Outcome == converge.Failed {
		for _, n := range e.Resource.Calls {
			b.Printf("    %s: %s\n", n.Pos, n.Text)
		}
	}
	for _, h := range e.Health {
		if t.Verbose || h.State != converge.HealthOK {
			b.Printf("    health check %s: %s", h.Name, h.State)
			if h.Output != "" {
				b.Printf(" %s", terminal.IndentedText(h.Output, indent))
			}
			b.Print(terminal.LinesText("\n"))
		}
	}
	_, _ = terminal.Fprint(t.W, b.Text())
}

// tellsDifferences reports whether it is told what differs.
func (t Text) tellsDifferences() bool { return t.Diff != DiffOff && !t.Quiet }

// bufferPool holds buffers for the text of one event.
var bufferPool = sync.Pool{New: func() any { return new(terminal.Buffer) }}

func allWell(checks []converge.Health) bool {
	for _, h := range checks {
		if h.State != converge.HealthOK {
			return false
		}
	}
	return true
}
