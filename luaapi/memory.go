package luaapi

import (
	"context"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/heap"
)

// A string is counted before it is made (Take), so the length of one and the sum of all are
// bounded. The memory of tables and functions is measured now and then while the script runs.

// memoryStep is the number of bytes of strings after which the memory is measured at once.
const memoryStep = 16 << 20

// A memory is the limit of memory of an evaluation.
type memory struct {
	bound       *heap.Bound
	allocations int                     // bytes of strings since the last measurement
	cancel      context.CancelCauseFunc // ends the evaluation
}

// watchMemory cancels an evaluation when this program holds too many more bytes than at the
// beginning of the evaluation. The returned function ends the watch.
func (lm *limits) watchMemory(cancel context.CancelCauseFunc) (stop func()) {
	was := lm.memory
	bound := heap.Watch(lm.opts.Memory, func() { cancel(errMemory) })
	lm.memory = &memory{bound: bound, cancel: cancel}
	return func() {
		bound.Stop()
		lm.memory = was
	}
}

// Take counts bytes that a script is about to get, and ends the evaluation if that is too much.
func (in *Interp) Take(L *lua.LState, size int) { in.limits.take(L, size) }

func (lm *limits) take(L *lua.LState, size int) {
	m := lm.memory
	if m == nil {
		return
	}
	if m.allocations += size; m.allocations < memoryStep {
		return
	}
	m.allocations = 0
	if !m.bound.Room(size) {
		m.cancel(errMemory)
		lm.report.throw(L, "", "%s", errMemory)
	}
}
