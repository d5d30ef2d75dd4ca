package luaapi

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"
)

// memoryInterval is how often the memory of a running script is measured. The
// machine has no hook for allocations, so a script that joins a string with
// itself again and again is only caught in between: it can get to some times
// the limit.
const memoryInterval = 3 * time.Millisecond

// watchMemory cancels an evaluation when this program holds limit bytes more
// than when the evaluation began. The function that it returns ends the watch.
func watchMemory(limit uint64, cancel context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	go func() {
		begin, _, cycles := heap()
		tick := time.NewTicker(memoryInterval)
		defer tick.Stop()
		collected := make(chan struct{}, 1)
		collecting := false
		for {
			select {
			case <-done:
				return
			case <-collected:
				collecting = false
			case <-tick.C:
			}
			held, live, cycle := heap()
			if cycle == cycles {
				live = 0 // that was before the script began
			}
			switch {
			case held < begin+limit:
			case live >= begin+limit || held >= begin+2*limit:
				cancel(errMemory)
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
	}()
	return func() { close(done) }
}

// heap returns how many bytes the heap holds, how many of them the last
// collection found in use, and the number of that collection.
func heap() (held, live, cycle uint64) {
	sample := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(sample)
	return sample[0].Value.Uint64(), sample[1].Value.Uint64(), sample[2].Value.Uint64()
}
