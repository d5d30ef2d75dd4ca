package luaapi

import (
	"reflect"

	lua "github.com/yuin/gopher-lua"
)

// maxCoroutines is how many coroutines can wait for one another.
const maxCoroutines = 100

// coroutineFunctions lists the functions of coroutine that are not gopher-lua's.
func (lib *baseLib) coroutineFunctions(createThread, resume, yield lua.LGFunction) []builtin {
	create := func(L *lua.LState) int {
		if L.CheckFunction(1).IsG { // gopher-lua would not return from it to the resume
			L.ArgError(1, "Lua function expected")
		}
		return createThread(L)
	}
	// guarded resumes a coroutine. Each one that waits for another takes some of
	// the stack of this program, which must not overflow.
	guarded := func(L *lua.LState) (n int, thrown lua.LValue) {
		if status := lib.status(L, L.CheckThread(1)); status != suspended {
			L.Push(lua.LFalse)
			L.Push(lua.LString("cannot resume " + status + " coroutine"))
			return 2, L.Get(-1)
		}
		th := L.ToThread(1)
		if hasReturned(th) {
			th.Dead = true
			L.Replace(1, lua.LTrue)
			return L.GetTop(), nil
		}
		if n, fixed := yieldResults(th); fixed {
			L.SetTop(1 + n)
		}
		if lib.ev.limits.coroutines == maxCoroutines {
			L.RaiseError("too many coroutines that wait for one another: more than %d", maxCoroutines)
		}
		lib.ev.limits.coroutines++
		defer func() { lib.ev.limits.coroutines-- }()
		if n = resume(L); n != 2 || L.Get(-2) != lua.LFalse {
			return n, nil
		}
		thrown = L.Get(-1)
		if lib.ev.limits.isOver() {
			L.Error(thrown, 0)
		}
		return n, thrown
	}
	return []builtin{
		{"create", create},
		{"yield", func(L *lua.LState) int {
			if !lib.canYield(L) {
				L.RaiseError("attempt to yield across metamethod/C-call boundary")
			}
			return yield(L)
		}},
		{"running", func(L *lua.LState) int {
			if th := lib.ev.limits.coroutine(L); th != L.G.MainThread {
				L.Push(th)
			} else {
				L.Push(lua.LNil)
			}
			return 1
		}},
		{"status", func(L *lua.LState) int {
			L.Push(lua.LString(lib.status(L, L.CheckThread(1))))
			return 1
		}},
		{"resume", func(L *lua.LState) int {
			n, thrown := guarded(L)
			if thrown != nil {
				L.Pop(1)
				L.Push(lib.ev.report.caught(L, thrown, 0))
			}
			return n
		}},
		{"wrap", func(L *lua.LState) int {
			create(L)
			th := L.Get(-1)
			L.Push(L.NewFunction(func(L *lua.LState) int {
				L.Insert(th, 1)
				n, thrown := guarded(L)
				if thrown != nil {
					L.Error(thrown, 0)
				}
				return n - 1
			}))
			return 1
		}},
	}
}

// hasReturned reports whether the function of a suspended coroutine ended with return coroutine.yield(...): what resume
// gets are its results. gopher-lua has no frame left to return from.
func hasReturned(th *lua.LState) bool {
	_, framed := th.GetStack(-1)
	return !framed
}

// yieldResults returns how many results the code that called yield takes; not fixed if it takes all, or if the
// coroutine has not started. gopher-lua does not fill up missing ones.
func yieldResults(th *lua.LState) (n int, fixed bool) {
	dbg, started := th.GetStack(0)
	if !started {
		return 0, false
	}
	fn, _ := th.GetInfo("f", dbg, lua.LNil)
	next := reflect.ValueOf(dbg).Elem().FieldByName("frame").Elem().FieldByName("Pc").Int()
	call := fn.(*lua.LFunction).Proto.Code[next-1]
	n = int(call>>9&0x1ff) - 1 // operand C of the call
	return n, n >= 0
}

// canYield reports whether all running functions of L can be left for a while: they were called by calls in scripts,
// and not by a function of this program, a metamethod or a for loop, which wait for a result.
func (lib *baseLib) canYield(L *lua.LState) bool {
	if lib.ev.limits.isProtected(L) {
		return false
	}
	for level := 1; ; level++ {
		dbg, more := L.GetStack(level)
		if !more {
			return true
		}
		f, ok := frameOf(L, dbg)
		if !ok && dbg.Source != "" && dbg.CurrentLine == hiddenLine {
			continue // it calls a part of itself
		}
		if !ok {
			return false
		}
		if c := lib.ev.source.chunkOf(f.node); c != nil && !c.isCall(f.node) {
			return false
		}
	}
}

// suspended is the status of a coroutine that can be resumed.
const suspended = "suspended"

// status returns the status of a coroutine for the one in which L runs.
func (lib *baseLib) status(L, of *lua.LState) string {
	if of.Dead {
		return "dead"
	}
	word := "running"
	for th := lib.ev.limits.coroutine(L); th != nil; th = lib.ev.limits.coroutine(th.Parent) {
		if th == of {
			return word
		}
		if word = "normal"; th.Parent == nil {
			break
		}
	}
	return suspended
}
