// Package report prints the events of a run or plan, as text for people and as JSON for
// programs.
package report

import (
	"io"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A DiffMode describes how much of the differences is reported.
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
	// OneOff is set if the resources were named on the command line. Then it is not reported that
	// they are new.
	OneOff bool
	// Drift is set if the machine is compared with its last applied state: pending
	// resources have drifted, and no run follows.
	Drift bool
	Diff  DiffMode
	// DiffLines is the number of lines reported of each unified diff; 0 for all.
	DiffLines int
	// Site is the name of the script or manifest on the command line, for advice.
	Site string
}

var _ event.Reporter = Text{}

func (t Text) paint(style terminal.Style, s string) terminal.Text {
	return style.On(t.Color).Paint(terminal.LineText(s))
}

// tells reports whether an event is reported.
func (t Text) tells(e *event.Event) bool {
	return e.Outcome == event.Failed || !t.Quiet && (t.Verbose || e.Outcome != event.Stable || !allWell(e.Health))
}

// Event implements event.Reporter.
func (t Text) Event(e *event.Event) { t.report(e) }

// report reports an event, and returns the number of its lines.
func (t Text) report(e *event.Event) (lines int) {
	if !t.tells(e) {
		return 0
	}
	mark, style := symbol(e)
	b := bufferPool.Get().(*terminal.Buffer)
	defer bufferPool.Put(b)
	b.Reset()
	id := e.Resource.ID
	b.Printf("%s\n", terminal.Prose(t.W, terminal.Sprintf("%s %s#%s: ", t.paint(style, mark), id.Type, id.Name), t.story(e), func() []string { return unbreakable(e) }))
	if t.tellsDifferences() {
		if made := newParts(e.Diff, e.Text); e.Outcome == event.Failed && made != "" {
			b.Printf("    %s\n", made)
		}
		t.differences(b, e.Diff, e.Text)
		if f := e.Forecast; (e.Outcome == event.Unknown || e.Uncertain) && f != nil && f.Outcome == event.Pending {
			t.differences(b, f.Diff, f.Text)
		}
	}
	if e.Outcome == event.Failed {
		for _, n := range e.Resource.Calls {
			b.Printf("    %s: %s\n", n.Pos, n.Text)
		}
	}
	for _, h := range e.Health {
		if t.Verbose || h.State != health.OK {
			b.Printf("    health check %s: %s", h.Name, h.State)
			if h.Output != "" {
				b.Printf(" %s", terminal.IndentedText(h.Output, indent))
			}
			b.Print(terminal.LinesText("\n"))
		}
	}
	text := b.Text()
	_, _ = terminal.Fprint(t.W, text)
	return strings.Count(text.String(), "\n")
}

// tellsDifferences reports whether differences are reported.
func (t Text) tellsDifferences() bool { return t.Diff != DiffOff && !t.Quiet }

// bufferPool holds buffers for the text of one event.
var bufferPool = sync.Pool{New: func() any { return new(terminal.Buffer) }}

func allWell(checks []health.Result) bool {
	for _, h := range checks {
		if h.State != health.OK {
			return false
		}
	}
	return true
}
