package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
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

// A spent is where the time of a run went. A nil one takes no notes, so that a
// run that nobody asked about pays nothing.
type spent struct {
	clock     host.Clock
	phases    []phase
	at        string
	since     time.Time
	resources int
	slowest   []*converge.Event
	memory    memory
}

type phase struct {
	name string
	took time.Duration
}

// memory is in bytes.
type memory struct {
	inUse     uint64 // when everything had been converged
	allocated uint64
	pieces    uint64
	atMost    uint64 // of the process
}

var _ converge.Reporter = (*spent)(nil)

// mostSlow is how many resources are named.
const mostSlow = 10

// newSpent begins with the phase that began with the process: main was reached
// at began, and before is what the process had used by then.
func newSpent(clock host.Clock, began time.Time, before time.Duration) *spent {
	return &spent{clock: clock, at: phaseStart, since: began.Add(-before)}
}

// enter ends a phase and begins the next one.
func (s *spent) enter(name string) {
	if s == nil {
		return
	}
	s.close()
	if s.at == phaseConverge {
		s.weigh()
	}
	s.at, s.since = name, s.clock.Now()
}

// end ends the last phase.
func (s *spent) end() {
	s.close()
	s.memory.measure()
}

func (s *spent) close() {
	s.phases = append(s.phases, phase{s.at, s.clock.Now().Sub(s.since)})
}

// weigh notes how much memory is in use. It takes time, which belongs to no phase.
func (s *spent) weigh() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.memory.inUse = m.HeapAlloc
}

// Begin implements converge.Reporter.
func (*spent) Begin(*resource.Resource, int, int) {}

// Event implements converge.Reporter.
func (s *spent) Event(e *converge.Event) {
	s.resources++
	if e.Took <= 0 || len(s.slowest) == mostSlow && e.Took <= s.slowest[mostSlow-1].Took {
		return
	}
	at, _ := slices.BinarySearchFunc(s.slowest, e, func(a, b *converge.Event) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Index, b.Index))
	})
	if len(s.slowest) == mostSlow {
		s.slowest = s.slowest[:mostSlow-1]
	}
	s.slowest = slices.Insert(s.slowest, at, e)
}

// watch returns a reporter that tells s too.
func (s *spent) watch(r converge.Reporter) converge.Reporter {
	if s == nil {
		return r
	}
	return converge.Reporters{r, s}
}

// print writes the table, unless the run ended before anything was read.
func (s *spent) print(w io.Writer) {
	if len(s.phases) < 2 {
		return
	}
	terminal.Fprintf(w, "Where the time went:\n")
	var all time.Duration
	for _, p := range s.phases {
		all += p.took
		terminal.Fprintf(w, "  %-9s %s\n", p.name, milliseconds(p.took))
	}
	terminal.Fprintf(w, "  %-9s %s\n", "in all", milliseconds(all))
	terminal.Fprintf(w, "Memory: %s\n", s.memory)
	if len(s.slowest) == 0 {
		return
	}
	terminal.Fprintf(w, "The slowest of %s:\n", count(s.resources, "resource", "resources"))
	for _, e := range s.slowest {
		terminal.Fprintf(w, "  %s  %s  %s  (%s)\n", milliseconds(e.Took), e.Outcome, e.Resource.ID, e.Resource.Pos)
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%9.2f ms", float64(d.Nanoseconds())/1e6)
}

func mebibytes(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// String lists what is known.
func (m memory) String() string {
	text := fmt.Sprintf("%s at most, %s allocated in %d pieces", mebibytes(m.atMost), mebibytes(m.allocated), m.pieces)
	if m.inUse > 0 {
		text += fmt.Sprintf(", %s in use when all was converged", mebibytes(m.inUse))
	}
	return text
}

// measure notes what the whole process has used.
func (m *memory) measure() {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	m.allocated, m.pieces = s.TotalAlloc, s.Mallocs
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) == nil {
		m.atMost = uint64(u.Maxrss) << 10
	}
}

// beforeMain returns the processor time that the process has used. Called first
// thing in main it is about the time that passed since it was started: nothing
// waits for anything before main.
var beforeMain = func() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
