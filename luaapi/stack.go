package luaapi

import (
	lua "github.com/yuin/gopher-lua"
)

// callDepth is the largest depth of calls.
const callDepth = 4096

// registrySize is the largest number of values of all running functions, and so also of values in
// one call.
const registrySize = 1 << 20

// reserve makes room for n values to push. Otherwise the stack grows in small steps and is copied
// each time.
func reserve(L *lua.LState, n int) {
	if n > 4096 {
		top := L.GetTop()
		L.SetTop(top + n)
		L.SetTop(top)
	}
}

// maxCalls is the largest number of calls in a message.
const maxCalls = 16

// maxReplaced is the largest number of calls that tail calls replaced and that a trace goes through.
const maxReplaced = 1 << 16

// calledFrom is the text of a note that shows a call.
const calledFrom = "called from here"

// A frame is a function of a script that is running.
type frame struct {
	node int // its present node, or a line if there is no node
	file string
	main bool // it is the outermost of its thread

	thread *lua.LState
	dbg    *lua.Debug // in thread

	column int // that a message gave, or 0
}

// frameAt returns the function of a script at a level of the stack. Level 0 is the running
// function. It is not ok for a function of this program; more is false beyond the end of the
// stack.
func frameAt(L *lua.LState, level int) (f frame, ok, more bool) {
	dbg, more := L.GetStack(level)
	if !more {
		return frame{}, false, false
	}
	f, ok = frameOf(L, dbg)
	return f, ok, true
}

// frameOf returns the function of a script that dbg is about, false for one of this program.
func frameOf(L *lua.LState, dbg *lua.Debug) (frame, bool) {
	if _, err := L.GetInfo("Sl", dbg, lua.LNil); err != nil || dbg.CurrentLine < 0 || dbg.Source == "" {
		return frame{}, false
	}
	return frame{node: dbg.CurrentLine, file: dbg.Source, main: dbg.What == "main", thread: L, dbg: dbg}, true
}

// caller returns the function of a script that called the running function of this program. Its
// node is 0 if there is none.
func caller(L *lua.LState) frame {
	for ; L != nil; L = L.Parent {
		for level := 0; ; level++ {
			f, ok, more := frameAt(L, level)
			if ok {
				return f
			}
			if !more {
				break
			}
		}
	}
	return frame{}
}

// trace returns the running functions of scripts, the innermost first. The outermost of each
// thread is always included, last; some of the others may be missing.
func trace(L *lua.LState) []frame {
	var out []frame
	for ; L != nil; L = L.Parent {
		for level := 0; len(out) < maxCalls && level < maxReplaced; level++ {
			f, ok, more := frameAt(L, level)
			if !more {
				break
			}
			// For a call that a tail call replaced, GetStack gives the outermost function.
			if ok && !f.main {
				out = append(out, f)
			}
		}
		if f, ok, _ := frameAt(L, -1); ok {
			out = append(out, f)
		}
	}
	return out
}
