package site

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// The phases of a run.
const (
	phaseStart    = "start"    // the process, the command line, the types
	phaseEvaluate = "evaluate" // the script or manifest, and the facts that it asks for
	phaseOrder    = "order"    // references, providers, the order
	phaseState    = "state"    // the lock and the record of earlier runs
	phaseConverge = "converge" // looking, deciding, doing
	phaseReport   = "report"   // the last line, the record of this run
)

// Timings measures the phases of a run and its slowest resources. A nil Timings measures nothing,
// so that a run without it pays nothing.
type Timings struct {
	clock     host.Clock
	phases    []phase
	phase     string // the present one
	since     time.Time
	resources int
	slowest   []*event.Event
	memory    memory
}

type phase struct {
	name     string
	duration time.Duration
}

// memory has sizes in bytes.
type memory struct {
	inUse       uint64 // after all resources were converged
	allocations uint64
	pieces      uint64
	atMost      uint64 // largest size of the process
}

var _ event.Reporter = (*Timings)(nil)

// mostSlow is the number of slow resources that are listed.
const mostSlow = 10

// NewTimings begins with the start phase: main was reached at began, and before is the processor
// time that the process had used until then.
func NewTimings(clock host.Clock, began time.Time, before time.Duration) *Timings {
	return &Timings{clock: clock, phase: phaseStart, since: began.Add(-before)}
}

// enter ends a phase and begins the next one.
func (t *Timings) enter(name string) {
	if t == nil {
		return
	}
	t.close()
	if t.phase == phaseConverge {
		t.measureHeap()
	}
	t.phase, t.since = name, t.clock.Now()
}

// End ends the last phase.
func (t *Timings) End() {
	t.close()
	t.memory.measure()
}

func (t *Timings) close() {
	t.phases = append(t.phases, phase{t.phase, t.clock.Now().Sub(t.since)})
}

// measureHeap measures the used memory. Its time belongs to no phase.
func (t *Timings) measureHeap() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.memory.inUse = m.HeapAlloc
}

// Event implements event.Reporter.
func (t *Timings) Event(e *event.Event) {
	if t == nil {
		return
	}
	t.resources++
	if e.Duration <= 0 || len(t.slowest) == mostSlow && e.Duration <= t.slowest[mostSlow-1].Duration {
		return
	}
	at, _ := slices.BinarySearchFunc(t.slowest, e, func(a, b *event.Event) int {
		return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Index, b.Index))
	})
	if len(t.slowest) == mostSlow {
		t.slowest = t.slowest[:mostSlow-1]
	}
	t.slowest = slices.Insert(t.slowest, at, e.Clone())
}

// Print writes the table, unless the run ended before the site was read.
func (t *Timings) Print(w io.Writer) {
	if len(t.phases) < 2 {
		return
	}
	terminal.Fprintf(w, "Time spent:\n")
	var all time.Duration
	for _, p := range t.phases {
		all += p.duration
		terminal.Fprintf(w, "  %-9s %s\n", p.name, milliseconds(p.duration))
	}
	terminal.Fprintf(w, "  %-9s %s\n", "total", milliseconds(all))
	terminal.Fprintf(w, "Memory: %s\n", t.memory)
	if len(t.slowest) == 0 {
		return
	}
	terminal.Fprintf(w, "The slowest of %s:\n", words.Count(t.resources, "resource"))
	for _, e := range t.slowest {
		terminal.Fprintf(w, "  %s  %s  %s  (%s)\n", milliseconds(e.Duration), words.Outcome(e.Outcome.String()), e.Resource.ID, e.Resource.Pos)
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%9.2f ms", float64(d.Nanoseconds())/1e6)
}

func mebibytes(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// String lists the known sizes.
func (m memory) String() string {
	text := fmt.Sprintf("%s peak, %s allocated in %d pieces", mebibytes(m.atMost), mebibytes(m.allocations), m.pieces)
	if m.inUse > 0 {
		text += fmt.Sprintf(", %s in use at the end", mebibytes(m.inUse))
	}
	return text
}

// measure reads the memory statistics of the process.
func (m *memory) measure() {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	m.allocations, m.pieces = s.TotalAlloc, s.Mallocs
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) == nil {
		m.atMost = uint64(u.Maxrss) << 10
	}
}
