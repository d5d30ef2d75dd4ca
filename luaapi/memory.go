package luaapi

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"
)

// memoryInterval is how often the memory of a running script is measured. The
// machine has no hook for allocations, so a script that joins a string with
// itself again and again is only caught in between.
const memoryInterval = 10 * time.Millisecond

// watchMemory cancels an evaluation when this program holds limit bytes more
// than when the evaluation began. The function that it returns ends the watch.
func watchMemory(limit uint64, cancel context.CancelCauseFunc) (stop func()) {
	begin := held()
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(memoryInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if held() < begin+limit {
				continue
			}
			// What is held includes garbage. Only what a collection leaves counts.
			runtime.GC()
			if held() >= begin+limit {
				cancel(errMemory)
				return
			}
		}
	}()
	return func() { close(done) }
}

// held returns how many bytes the heap holds.
func held() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
