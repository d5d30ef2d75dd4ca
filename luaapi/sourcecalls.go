package luaapi

import (
	"encoding/binary"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// notes returns the calls that led to the innermost of frames. Many declarations come from the
// same calls, so the result is shared.
func (sm *sourceMap) notes(frames []frame) []diag.Note {
	if len(frames) < 2 {
		return nil
	}
	var buf [8 * (maxCalls + 8)]byte
	key := buf[:0]
	for _, f := range frames[1:] {
		key = binary.LittleEndian.AppendUint64(key, uint64(f.node))
	}
	if notes, ok := sm.notesOf[string(key)]; ok {
		return notes
	}
	var notes []diag.Note
	for _, f := range frames[1:] {
		n := diag.Note{Pos: sm.lineOf(f.node, f.file), Text: calledFrom}
		if len(notes) == 0 || notes[len(notes)-1] != n {
			notes = append(notes, n)
		}
	}
	sm.notesOf[string(key)] = notes
	return notes
}

// lineOf returns the place of a node, or of a line of a file if node is no node.
func (sm *sourceMap) lineOf(node int, file string) diag.Pos {
	if node < nodeBase {
		return diag.Pos{File: file, Line: node}
	}
	return sm.linePos(node)
}

// origin returns the calling function and the calls that led to it.
func (sm *sourceMap) origin(L *lua.LState) (frame, []diag.Note) {
	f := caller(L)
	return f, sm.chain(L, f)
}

// chain returns the calls that led to f, the caller. There are none in the
// script itself, outside of its functions.
func (sm *sourceMap) chain(L *lua.LState, f frame) []diag.Note {
	if f.main && L.Parent == nil {
		return nil
	}
	return sm.notes(trace(L))
}

// cutPosition takes the place off the beginning of a message: file:node:, file:line:
// or file:line:column:.
func (sm *sourceMap) cutPosition(text string) (f frame, rest string, ok bool) {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], ':')
		if i < 0 {
			return frame{}, text, false
		}
		at += i
		n, after := number(text[at+1:])
		if n == 0 || after == "" || after[0] != ':' {
			continue
		}
		f = frame{node: n, file: text[:at]}
		if c := sm.chunkOf(n); c != nil && c.name == f.file {
			return f, strings.TrimPrefix(after[1:], " "), true
		}
		if !sm.has(f.file) {
			continue
		}
		if col, more := number(after[1:]); col > 0 && strings.HasPrefix(more, ":") {
			f.column, after = col, more
		}
		return f, strings.TrimPrefix(after[1:], " "), true
	}
}

// withoutNode replaces the node at the beginning of a message by its line, because a script may
// catch the message.
func (sm *sourceMap) withoutNode(v lua.LValue) lua.LValue {
	text, ok := v.(lua.LString)
	if !ok {
		return v
	}
	f, rest, ok := sm.cutPosition(string(text))
	if !ok || f.node < nodeBase {
		return v
	}
	return lua.LString(sm.linePos(f.node).String() + ": " + rest)
}

// number returns the number at the beginning of s, and the rest.
func number(s string) (n int, rest string) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0, s
	}
	return n, s[end:]
}
