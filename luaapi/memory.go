package luaapi

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// A string that a script makes is counted before it is made, so the length of one
// and the sum of all are bounded where they arise: by Take. What tables and
// functions take is measured now and then while the script runs.

const (
	// memoryInterval is how often the memory of a running script is measured.
	memoryInterval = 3 * time.Millisecond
	// memoryStep is after how many bytes of strings it is measured at once.
	memoryStep = 16 << 20
)

// A memory is what an evaluation may hold.
type memory struct {
	begin  uint64 // what this program held when it began
	limit  uint64
	made   int                     // bytes of strings since it was measured
	cancel context.CancelCauseFunc // ends the evaluation
}

// watchMemory cancels an evaluation when this program holds more bytes than when
// the evaluation began, by what is allowed. The function that it returns ends the
// watch.
func (lm *limits) watchMemory(cancel context.CancelCauseFunc) (stop func()) {
	begin, _, cycles := heap()
	was := lm.memory
	m := &memory{begin: begin, limit: lm.in.opts.Memory, cancel: cancel}
	lm.memory = m
	done := make(chan struct{})
	go m.watch(cycles, done)
	return func() {
		close(done)
		lm.memory = was
	}
}

func (m *memory) watch(cycles uint64, done <-chan struct{}) {
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
		case held < m.begin+m.limit:
		case live >= m.begin+m.limit || held >= m.begin+2*m.limit:
			m.cancel(errMemory)
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

// exceeded reports whether there is no room for size more bytes. Garbage does not
// count.
func (m *memory) exceeded(size int) bool {
	most := m.begin + m.limit
	held, _, _ := heap()
	if held+uint64(size) < most {
		return false
	}
	runtime.GC()
	held, _, _ = heap()
	return held+uint64(size) >= most
}

// Take counts bytes that a script is about to be given, and ends the evaluation if
// there is no memory for them.
func (in *Interp) Take(L *lua.LState, size int) {
	m := in.limits.memory
	if m == nil {
		return
	}
	if m.made += size; m.made < memoryStep {
		return
	}
	m.made = 0
	if m.exceeded(size) {
		m.cancel(errMemory)
		in.report.throw(L, "", "%s", errMemory)
	}
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
