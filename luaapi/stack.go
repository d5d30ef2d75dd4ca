package luaapi

import (
	"encoding/binary"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// callDepth is how deep functions can call each other.
const callDepth = 4096

// registrySize is how many values the functions that are running can hold, and
// so also how many values one call can pass.
const registrySize = 1 << 20

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
// stack. Level 0 is what runs now. It is false for functions of this program;
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

// notes returns the calls that led to the innermost of frames. Many
// declarations come from the same calls, so the result is shared.
func (in *Interp) notes(frames []frame) []diag.Note {
	if len(frames) < 2 {
		return nil
	}
	var buf [8 * (maxCalls + 8)]byte
	key := buf[:0]
	for _, f := range frames[1:] {
		key = binary.LittleEndian.AppendUint64(key, uint64(f.node))
	}
	if notes, ok := in.calls[string(key)]; ok {
		return notes
	}
	var notes []diag.Note
	for _, f := range frames[1:] {
		n := diag.Note{Pos: in.place(f.node, f.file), Text: calledFrom}
		if len(notes) == 0 || notes[len(notes)-1] != n {
			notes = append(notes, n)
		}
	}
	in.calls[string(key)] = notes
	return notes
}

// place returns the place of a node, or of a line of a file if node is no node.
func (in *Interp) place(node int, file string) diag.Pos {
	if node < nodeBase {
		return diag.Pos{File: file, Line: node}
	}
	return in.pos(node)
}

// origin returns the function that called and the calls that led there.
func (in *Interp) origin(L *lua.LState) (frame, []diag.Note) {
	f := caller(L)
	return f, in.chain(L, f)
}

// chain returns the calls that led to f, the caller. There are none in the
// script itself, outside of its functions.
func (in *Interp) chain(L *lua.LState, f frame) []diag.Note {
	if f.main && L.Parent == nil {
		return nil
	}
	return in.notes(trace(L))
}
