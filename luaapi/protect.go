package luaapi

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// When a function fails, gopher-lua 1.1.2 detaches the closures of all running functions of its
// thread from their variables, also of those that go on after pcall. With an error handler it
// detaches none, and closures of the failed functions read whatever is in the same registers
// later. So a protected call has a thread of its own: an error ends all functions of that
// thread and no others.

// maxProtected is the largest number of nested protected calls. Lua itself has the same limit.
const maxProtected = 200

// maxIdle is the largest number of threads that are kept for later protected calls.
const maxIdle = 8

// An errorHandler is called with what was thrown, in the thread of the failed functions and
// before they are left. It returns the value to be thrown in its place.
type errorHandler func(L *lua.LState, thrown lua.LValue) lua.LValue

// protect calls a function. If it fails, thrown is the error as a script gets it from pcall; else
// thrown is nil. The handler may be nil. An error that ends the evaluation is thrown on.
func (lm *limits) protect(L *lua.LState, handler errorHandler, fn lua.LValue, args ...lua.LValue) (results []lua.LValue, thrown lua.LValue) {
	if len(lm.protectedCalls) == maxProtected {
		L.RaiseError("stack overflow in protected calls")
	}
	th := lm.takeThread(L)
	lm.protectedCalls = append(lm.protectedCalls, th)
	current := L.G.CurrentThread
	defer func() {
		lm.protectedCalls = lm.protectedCalls[:len(lm.protectedCalls)-1]
		L.G.CurrentThread = current
		th.Parent = nil
	}()
	reserve(th, len(args)+2)
	th.Push(lm.callFunction())
	th.Push(fn)
	for _, v := range args {
		th.Push(v)
	}
	err := th.PCall(len(args)+1, lua.MultRet, lm.handlerFunction(handler))
	if err == nil {
		results = make([]lua.LValue, th.GetTop())
		for i := range results {
			results[i] = th.Get(i + 1)
		}
	} else {
		thrown = lm.thrown(L, fn, err)
	}
	th.SetTop(0)
	if len(lm.idle) < maxIdle {
		lm.idle = append(lm.idle, th)
	}
	return results, thrown
}

// callFunction returns the outermost function of protected calls, which calls argument 1 with the
// others. Without it gopher-lua takes the end of the called function for that of a coroutine.
func (lm *limits) callFunction() *lua.LFunction {
	if lm.callArgument == nil {
		lm.callArgument = lm.vm.NewFunction(func(L *lua.LState) int {
			defer func() {
				r := recover()
				if _, ok := r.(*lua.ApiError); r != nil && !ok {
					r = &lua.ApiError{Type: lua.ApiErrorRun, Object: lua.LString(panicked(r).Error())}
				}
				if r != nil {
					panic(r)
				}
			}()
			L.Call(L.GetTop()-1, lua.MultRet)
			return L.GetTop()
		})
	}
	return lm.callArgument
}

// handlerFunction returns the function for gopher-lua that calls a handler. There is always one:
// without it gopher-lua writes out the stack for each error, with a line for each tail call.
func (lm *limits) handlerFunction(handler errorHandler) *lua.LFunction {
	if handler == nil && lm.noHandler != nil {
		return lm.noHandler
	}
	fn := lm.vm.NewFunction(func(th *lua.LState) int {
		thrown := th.Get(1)
		if !lm.isOver() {
			thrown = lm.report.caught(th, thrown, 1)
			if handler != nil {
				thrown = handler(th, thrown)
			}
		}
		detach(th)
		th.Push(thrown)
		return 1
	})
	if handler == nil {
		lm.noHandler = fn
	}
	return fn
}

// detach gives the closures of the running functions of a thread variables of their own, as
// gopher-lua does when an error is thrown.
func detach(th *lua.LState) {
	defer func() { _ = recover() }()
	th.Error(lua.LNil, 0)
}

// thrown returns the value in an error of a protected call of fn in L, as a script gets it.
func (lm *limits) thrown(L *lua.LState, fn lua.LValue, err error) lua.LValue {
	thrown := lua.LValue(lua.LString(err.Error()))
	if api, ok := err.(*lua.ApiError); ok {
		thrown = api.Object
		if api.Type == lua.ApiErrorPanic { // there was no room to call the handler
			thrown = lua.LString(panicked(thrown).Error())
		}
	}
	if lm.isOver() {
		panic(err) // thrown as it is: to make it again for each call takes time
	}
	// gopher-lua writes a blank behind the place, and there is none if fn is not of a script.
	if text, ok := thrown.(lua.LString); ok && strings.HasPrefix(string(text), " ") && !isOfScript(fn) && fn != lm.vm.Env.RawGetString("error") {
		if text == " "+notFunction {
			text = lua.LString(fmt.Sprintf(" attempt to call a %s value", fn.Type()))
		}
		thrown = text[1:]
		if f := caller(L); f.node != 0 {
			thrown = lua.LString(fmt.Sprintf("%s:%d:%s", f.file, f.node, text))
		}
	}
	return lm.report.caught(L, thrown, 0)
}

// notFunction is the message of gopher-lua for the call of another value.
const notFunction = "attempt to call a non-function object"

// isOfScript reports whether a value is a function that is written in Lua.
func isOfScript(v lua.LValue) bool {
	fn, ok := v.(*lua.LFunction)
	return ok && !fn.IsG
}

// takeThread returns a thread for a protected call that L makes.
func (lm *limits) takeThread(L *lua.LState) *lua.LState {
	var th *lua.LState
	if n := len(lm.idle); n > 0 {
		th = lm.idle[n-1]
		lm.idle = lm.idle[:n-1]
	} else {
		th, _ = lm.vm.NewThread()
	}
	th.RemoveContext()
	if ctx := L.Context(); ctx != nil {
		th.SetContext(ctx)
	}
	th.Parent, th.Env = L, L.Env
	return th
}

// isProtected reports whether L is the thread of a running protected call.
func (lm *limits) isProtected(L *lua.LState) bool { return slices.Contains(lm.protectedCalls, L) }

// coroutine returns the coroutine in which L runs, or the main thread.
func (lm *limits) coroutine(L *lua.LState) *lua.LState {
	for lm.isProtected(L) {
		L = L.Parent
	}
	return L
}

// stackAt returns the running function at a level of the stack with its thread. The stack of a
// protected call goes on with that of its caller: its outermost function stands for pcall.
func (lm *limits) stackAt(L *lua.LState, level int) (*lua.LState, *lua.Debug, bool) {
	for {
		dbg, ok := L.GetStack(level)
		if ok || !lm.isProtected(L) {
			return L, dbg, ok
		}
		level -= depth(L) - 1
		L = L.Parent
	}
}

// depth returns the number of running functions of a thread. Functions that a tail call replaced
// count too, and may be millions.
func depth(L *lua.LState) int {
	return sort.Search(math.MaxInt32, func(n int) bool {
		_, ok := L.GetStack(n)
		return !ok
	})
}

// frameAt is frameAt of a stack that goes on as in [limits.stackAt].
func (lm *limits) frameAt(L *lua.LState, level int) (f frame, ok, more bool) {
	th, dbg, more := lm.stackAt(L, level)
	if !more {
		return frame{}, false, false
	}
	f, ok = frameOf(th, dbg)
	return f, ok, true
}
