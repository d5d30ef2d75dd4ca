package luaapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A raised mistake travels through Lua as a text, so that a script that catches
// it gets what it expects. It is found again by that text.
type raised struct {
	text    string
	mistake *diag.Error
}

// raise throws a mistake.
func (in *Interp) raise(L *lua.LState, e *diag.Error) {
	in.raised = raised{e.Pos.String() + ": " + e.Message(), e}
	L.Error(lua.LString(in.raised.text), 0)
}

// throw throws a mistake at the place of the script that called.
func (in *Interp) throw(L *lua.LState, hint, format string, args ...any) {
	f, notes := in.origin(L)
	in.raise(L, &diag.Error{Pos: in.spot(f), Err: fmt.Errorf(format, args...), Hint: hint, Notes: notes})
}

// spot returns the exact place that a function is at.
func (in *Interp) spot(f frame) diag.Pos {
	if f.node < nodeBase {
		return diag.Pos{File: f.file, Line: f.node}
	}
	return in.exact(f.node)
}

// A stopError says why an evaluation did not come to its end.
type stopError struct {
	text  string
	cause error
}

// Error says why.
func (e *stopError) Error() string { return e.text }

// Unwrap returns context.DeadlineExceeded or what the context was cancelled
// with.
func (e *stopError) Unwrap() error { return e.cause }

// stopped returns the mistake for an evaluation that was cut short at pos.
func (in *Interp) stopped(pos diag.Pos, notes []diag.Note) *diag.Error {
	e := &diag.Error{Pos: pos, Notes: notes}
	switch cause := context.Cause(in.ctx); {
	case errors.Is(cause, errTimeout):
		e.Err = &stopError{fmt.Sprintf("the script is not done after %s", in.opts.Timeout), context.DeadlineExceeded}
		e.Hint = "--eval-timeout gives it more time"
	case errors.Is(cause, errMemory):
		e.Err = &stopError{fmt.Sprintf("the script holds more than %d MiB of memory", in.opts.Memory>>20), cause}
	default:
		e.Err = &stopError{"interrupted", cause}
	}
	return e
}

// errSilent says that what was thrown says nothing.
var errSilent = errors.New("error is called without a message")

// fault returns the mistake that ended an evaluation. The stack of L is still
// that of the moment in which it happened.
func (in *Interp) fault(L *lua.LState, r any) *diag.Error {
	e := in.faultOf(L, r)
	if strings.TrimSpace(e.Err.Error()) == "" {
		e.Err = errSilent
	}
	return e
}

func (in *Interp) faultOf(L *lua.LState, r any) *diag.Error {
	if in.fatal != nil {
		return in.fatal
	}
	frames := trace(L)
	here := func() (pos diag.Pos, notes []diag.Note) {
		if len(frames) == 0 {
			return diag.Pos{}, nil
		}
		return in.spot(frames[0]), in.notes(frames)
	}
	err, ok := r.(*lua.ApiError)
	if !ok {
		pos, notes := here()
		return &diag.Error{Pos: pos, Notes: notes, Err: panicked(r)}
	}
	text, ok := err.Object.(lua.LString)
	if !ok && in.ctx.Err() != nil {
		return in.stopped(here())
	}
	if !ok {
		pos, notes := here()
		return &diag.Error{Pos: pos, Notes: notes, Err: errors.New(in.thrown(L, err.Object))}
	}
	if e := in.raised.mistake; e != nil && string(text) == in.raised.text {
		if in.ctx.Err() != nil {
			return in.stopped(e.Pos, e.Notes)
		}
		return e
	}
	f, rest, found := in.prefix(string(text))
	if !found {
		pos, notes := here()
		if in.ctx.Err() != nil {
			return in.stopped(pos, notes)
		}
		return &diag.Error{Pos: pos, Notes: notes, Err: errors.New(strings.TrimSpace(rest))}
	}
	var notes []diag.Note
	if i := slices.IndexFunc(frames, func(g frame) bool { return g.node == f.node }); i >= 0 {
		f, notes = frames[i], in.notes(frames[i:])
	} else if f.node >= nodeBase {
		// It happened in a coroutine that is gone by now. A message without a node
		// has been caught and thrown again, and the calls are not those that led
		// to it.
		notes = in.notes(append([]frame{f}, frames...))
	}
	if in.ctx.Err() != nil {
		return in.stopped(in.spot(f), notes)
	}
	e := &diag.Error{Pos: in.spot(f), Notes: notes}
	if f.column > 0 {
		e.Pos.Col = f.column
	}
	in.explain(L, e, f, rest)
	return e
}

// panicked returns the error for a panic that is none of Lua's.
func panicked(r any) error {
	switch text := fmt.Sprint(r); {
	case strings.Contains(text, "callstack overflow"):
		return fmt.Errorf("stack overflow: more than %d calls inside one another; does a function call itself without end?", callDepth)
	default:
		return fmt.Errorf("internal error while the script was evaluated: %s", text)
	}
}

// prefix takes the place off the beginning of a message: file:node:, file:line:
// or file:line:column:.
func (in *Interp) prefix(text string) (f frame, rest string, ok bool) {
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
		if c := in.chunkOf(n); c != nil && c.name == f.file {
			return f, strings.TrimPrefix(after[1:], " "), true
		}
		if _, known := in.source(f.file); !known {
			continue
		}
		if col, more := number(after[1:]); col > 0 && strings.HasPrefix(more, ":") {
			f.column, after = col, more
		}
		return f, strings.TrimPrefix(after[1:], " "), true
	}
}

// number reads the digits that s begins with.
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

// plain replaces the node at the beginning of a message by its line, for
// scripts that catch the message.
func (in *Interp) plain(v lua.LValue) lua.LValue {
	text, ok := v.(lua.LString)
	if !ok {
		return v
	}
	f, rest, ok := in.prefix(string(text))
	if !ok || f.node < nodeBase {
		return v
	}
	return lua.LString(in.pos(f.node).String() + ": " + rest)
}

// thrown returns the text for a value that error threw and that is no string.
func (in *Interp) thrown(L *lua.LState, v lua.LValue) (text string) {
	if v == lua.LNil {
		return errSilent.Error()
	}
	t, ok := v.(*lua.LTable)
	if !ok {
		return v.String()
	}
	if L.GetMetaField(t, "__tostring") != lua.LNil {
		defer func() {
			if recover() != nil {
				text = "a table whose __tostring fails"
			}
		}()
		return L.ToStringMeta(t).String()
	}
	for _, key := range []string{"message", "msg", "error", "reason"} {
		if s, ok := t.RawGetString(key).(lua.LString); ok && s != "" {
			return string(s)
		}
	}
	return literal(t, 0)
}

// literal writes a value as a script would.
func literal(v lua.LValue, depth int) string {
	t, ok := v.(*lua.LTable)
	if !ok {
		if s, ok := v.(lua.LString); ok {
			return strconv.Quote(string(s))
		}
		if v.Type() > lua.LTString {
			return v.Type().String()
		}
		return v.String()
	}
	if depth > 3 {
		return "{...}"
	}
	var parts []string
	n := t.Len()
	for i := 1; i <= n; i++ {
		parts = append(parts, literal(t.RawGetInt(i), depth+1))
	}
	for k, e := t.Next(position(n)); k != lua.LNil; k, e = t.Next(k) {
		if s, ok := k.(lua.LString); ok {
			parts = append(parts, string(s)+" = "+literal(e, depth+1))
			continue
		}
		parts = append(parts, "["+literal(k, depth+1)+"] = "+literal(e, depth+1))
	}
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
