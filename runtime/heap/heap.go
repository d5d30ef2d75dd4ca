// Package heap limits the memory that an evaluation may hold. A large allocation, such as of a string, is checked
// before it is made ([Bound.Room]); growth in many small steps is measured from time to time while the evaluation
// runs ([Watch]).
package heap

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Interval is the time between two measurements.
const Interval = 3 * time.Millisecond

// A Bound is the memory limit of one evaluation.
type Bound struct {
	begin  uint64 // heap in use when the evaluation began
	limit  uint64
	cycles uint64 // number of collections before it
	done   chan struct{}
}

// Watch calls exceeded, once, when the heap in use has grown by more than limit bytes. Garbage does not count. Stop
// ends the watch.
func Watch(limit uint64, exceeded func()) *Bound {
	begin, _, cycles := measure()
	b := &Bound{begin: begin, limit: limit, cycles: cycles, done: make(chan struct{})}
	go b.watch(exceeded)
	return b
}

// Stop ends the watch.
func (b *Bound) Stop() { close(b.done) }

func (b *Bound) watch(exceeded func()) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	collected := make(chan struct{}, 1)
	collecting := false
	for {
		select {
		case <-b.done:
			return
		case <-collected:
			collecting = false
		case <-tick.C:
		}
		held, live, cycle := measure()
		if cycle == b.cycles {
			live = 0 // from a collection before the evaluation
		}
		switch {
		case held < b.begin+b.limit:
		case live >= b.begin+b.limit || held >= b.begin+2*b.limit:
			exceeded()
			return
		case !collecting:
			// The heap includes garbage; a collection tells how much. It runs in a goroutine, because it may take
			// long and the watch must go on.
			collecting = true
			go func() {
				runtime.GC()
				collected <- struct{}{}
			}()
		}
	}
}

// Room reports whether size more bytes are within the limit. Garbage does not count.
func (b *Bound) Room(size int) bool {
	most := b.begin + b.limit
	held, _, _ := measure()
	if held+uint64(size) < most {
		return true
	}
	runtime.GC()
	held, _, _ = measure()
	return held+uint64(size) < most
}

// measure returns the size of the heap in bytes, the bytes that the last collection found in use, and the number of
// collections.
func measure() (held, live, cycle uint64) {
	sample := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(sample)
	return sample[0].Value.Uint64(), sample[1].Value.Uint64(), sample[2].Value.Uint64()
}
