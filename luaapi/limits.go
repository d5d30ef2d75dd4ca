package luaapi

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// Why an evaluation is stopped.
var (
	errTimeout = errors.New("timeout")
	errMemory  = errors.New("memory")
)

// ofLimits reports whether the evaluation's own limits stopped it.
func ofLimits(cause error) bool { return errors.Is(cause, errTimeout) || errors.Is(cause, errMemory) }

// limits bounds what an evaluation uses: its time, the memory it holds, and the
// calls that wait for one another.
type limits struct {
	vm             *lua.LState
	opts           *Options
	report         *mistakeCollector
	tables         *Tables
	lens           *lua.LFunction // the function for #, or nil
	memory         *memory        // of the innermost evaluation, or nil
	watch          *stopwatch     // of the innermost call of Invoke, or nil
	coroutines     int            // number of nested coroutines
	protectedCalls []*lua.LState  // threads of the running protected calls, the innermost last
	idle           []*lua.LState  // threads of protected calls that have ended
	callArgument   *lua.LFunction // [limits.callFunction], or nil
	noHandler      *lua.LFunction // [limits.handlerFunction] of no handler, or nil
}

// begin starts an evaluation that ends with ctx, or when it exceeds its time or memory. The
// returned function ends it.
func (lm *limits) begin(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := newStopwatch(lm.opts.Timeout, lm.opts.WaitTime, func() { cancel(errTimeout) })
	unwatch := lm.watchMemory(cancel)
	lm.report.ctx = ctx
	return func() {
		unwatch()
		watch.stop()
		cancel(nil)
	}
}

// isOver reports whether the evaluation has to end whatever the script does.
func (lm *limits) isOver() bool { return lm.report.fatal != nil || lm.report.ctx.Err() != nil }

// takeString throws if a string of size bytes would be too long, or if there is no
// memory for it. It is called before the string is made.
func (lm *limits) takeString(L *lua.LState, function string, size int) {
	if size > maxString {
		lm.tooLong(L, function)
	}
	lm.take(L, size)
}

// tooLong throws the mistake that a string gets too long.
func (lm *limits) tooLong(L *lua.LState, function string) {
	lm.report.throw(L, "", "%s: the result %w", function, diag.MustBe("at most %d MiB", maxString>>20))
}
