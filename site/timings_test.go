package site

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A steppingClock is set by the test.
type steppingClock struct{ now time.Time }

func (s *steppingClock) Now() time.Time { return s.now }

func (s *steppingClock) step(ms float64) {
	s.now = s.now.Add(time.Duration(ms * float64(time.Millisecond)))
}

func TestTimings(t *testing.T) {
	c := &steppingClock{time.Unix(1, 0)}
	s := NewTimings(c, c.now, 2*time.Millisecond)
	took := func(name string, ms float64) {
		s.Event(&event.Event{
			Resource: &resource.Resource{ID: resource.ID{Type: "exec", Name: name}, Pos: diag.Pos{File: "site.lua", Line: 3}, Common: new(resource.Common)},
			Index:    s.resources, Duration: time.Duration(ms * float64(time.Millisecond)),
		})
	}
	c.step(1)
	s.enter(phaseEvaluate)
	c.step(12.5)
	s.enter(phaseConverge)
	took("never", 0)
	for i := range 12 {
		took(string(rune('a'+i)), float64(i%6+1))
	}
	c.step(3000)
	s.enter(phaseReport)
	s.End()
	require.NotZero(t, s.memory.inUse)
	require.Greater(t, s.memory.atMost, s.memory.inUse)
	s.memory = memory{inUse: 3 << 20, allocations: 5 << 20, pieces: 1234, atMost: 1 << 29}
	var b strings.Builder
	s.Print(&b)
	require.Equal(t, `Time spent:
  start          3.00 ms
  evaluate      12.50 ms
  converge    3000.00 ms
  report         0.00 ms
  total       3015.50 ms
Memory: 512.0 MiB peak, 5.0 MiB allocated in 1234 pieces, 3.0 MiB in use at the end
The slowest of 13 resources:
       6.00 ms  up to date  exec#f  (site.lua:3)
       6.00 ms  up to date  exec#l  (site.lua:3)
       5.00 ms  up to date  exec#e  (site.lua:3)
       5.00 ms  up to date  exec#k  (site.lua:3)
       4.00 ms  up to date  exec#d  (site.lua:3)
       4.00 ms  up to date  exec#j  (site.lua:3)
       3.00 ms  up to date  exec#c  (site.lua:3)
       3.00 ms  up to date  exec#i  (site.lua:3)
       2.00 ms  up to date  exec#b  (site.lua:3)
       2.00 ms  up to date  exec#h  (site.lua:3)
`, b.String())
}

// A run that did not begin has no timings, and without a request nothing is recorded.
func TestTimingsNothing(t *testing.T) {
	c := &steppingClock{time.Unix(1, 0)}
	s := NewTimings(c, c.now, 0)
	s.End()
	var b strings.Builder
	s.Print(&b)
	require.Empty(t, b.String())

	var none *Timings
	none.enter(phaseOrder)
	none.Event(new(event.Event))
}
