package luaapi

import (
	"context"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/heap"
)

// A string that a script makes is counted before it is made, so the length of one
// and the sum of all are bounded where they arise: by Take. What tables and
// functions take is measured now and then while the script runs.

// memoryStep is after how many bytes of strings it is looked at once whether there is
// room for more.
const memoryStep = 16 << 20

// A memory is the limit of memory of an evaluation.
type memory struct {
	bound       *heap.Bound
	allocations int                     // bytes of strings since it was measured
	cancel      context.CancelCauseFunc // ends the evaluation
}

// watchMemory cancels an evaluation when this program holds more bytes than when
// the evaluation began, by what is allowed. The function that it returns ends the
// watch.
func (lm *limits) watchMemory(cancel context.CancelCauseFunc) (stop func()) {
	was := lm.memory
	bound := heap.Watch(lm.in.opts.Memory, func() { cancel(errMemory) })
	lm.memory = &memory{bound: bound, cancel: cancel}
	return func() {
		bound.Stop()
		lm.memory = was
	}
}

// Take counts bytes that a script is about to be given, and ends the evaluation if
// there is no memory for them.
func (in *Interp) Take(L *lua.LState, size int) {
	m := in.limits.memory
	if m == nil {
		return
	}
	if m.allocations += size; m.allocations < memoryStep {
		return
	}
	m.allocations = 0
	if !m.bound.Room(size) {
		m.cancel(errMemory)
		in.report.throw(L, "", "%s", errMemory)
	}
}
