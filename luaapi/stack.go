package luaapi

import (
	lua "github.com/yuin/gopher-lua"
)

// callDepth is how deep functions can call each other.
const callDepth = 4096

// registrySize is how many values the functions that are running can hold, and
// so also how many values one call can pass.
const registrySize = 1 << 20

// reserve makes room for n values that are about to be pushed. The stack grows in small
// steps otherwise, and is copied each time.
func reserve(L *lua.LState, n int) {
	if n > 4096 {
		top := L.GetTop()
		L.SetTop(top + n)
		L.SetTop(top)
	}
}

// maxCalls bounds the chain of calls that a message shows.
const maxCalls = 16

// calledFrom is the text of a note that shows a call.
const calledFrom = "called from here"

// A frame is a function of a script that is running.
type frame struct {
	node int // where it is: a node, or a line if it is at no node
	file string
	main bool // it is the outermost of its thread
	dbg  *lua.Debug

	column int // that a message gave, or 0
}

// frameAt returns the function of a script that runs at that level of the
// stack. Level 0 is the running function. It is false for functions of this program;
// the last result is false beyond the end of the stack.
func frameAt(L *lua.LState, level int) (f frame, ok, more bool) {
	dbg, more := L.GetStack(level)
	if !more {
		return frame{}, false, false
	}
	if _, err := L.GetInfo("Sl", dbg, lua.LNil); err != nil || dbg.CurrentLine < 0 || dbg.Source == "" {
		return frame{}, false, true
	}
	return frame{node: dbg.CurrentLine, file: dbg.Source, main: dbg.What == "main", dbg: dbg}, true, true
}

// caller returns the function of a script that called the function of this
// program that runs now. Its node is 0 if there is none.
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

// trace returns the functions of scripts that are running, the innermost first.
// The outermost of each thread comes last and is always there; of the others
// there may be fewer than are running.
func trace(L *lua.LState) []frame {
	var out []frame
	for ; L != nil; L = L.Parent {
		for level := 0; len(out) < maxCalls; level++ {
			f, ok, more := frameAt(L, level)
			if !more {
				break
			}
			// For a call that a tail call has replaced GetStack gives the outermost.
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
