// Package heap bounds what an evaluation may hold. What is made in one step, such as a
// string, is asked for before it is made ([Bound.Room]); what grows in many small steps
// is measured now and then while the evaluation runs ([Watch]).
package heap

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Interval is how often the memory of a running evaluation is measured.
const Interval = 3 * time.Millisecond

// A Bound is how much an evaluation may hold.
type Bound struct {
	begin  uint64 // what this program held when it began
	limit  uint64
	cycles uint64 // collections until then
	done   chan struct{}
}

// Watch calls exceeded, once, when this program holds more bytes than now by limit.
// Garbage does not count. Stop ends the watch.
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
			live = 0 // that was before the evaluation began
		}
		switch {
		case held < b.begin+b.limit:
		case live >= b.begin+b.limit || held >= b.begin+2*b.limit:
			exceeded()
			return
		case !collecting:
			// What is held includes garbage; a collection tells how much. It can
			// take its time, and so it must not hold up the watch.
			collecting = true
			go func() {
				runtime.GC()
				collected <- struct{}{}
			}()
		}
	}
}

// Room reports whether there is room for size more bytes. Garbage does not count.
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

// measure returns how many bytes the heap holds, how many of them the last collection
// found in use, and the number of that collection.
func measure() (held, live, cycle uint64) {
	sample := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(sample)
	return sample[0].Value.Uint64(), sample[1].Value.Uint64(), sample[2].Value.Uint64()
}
