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
	"github.com/luaccm/ccm/runtime/words"
)

// A stopError is the reason why an evaluation was ended.
type stopError struct {
	text  string
	cause error
}

// Error returns the reason.
func (e *stopError) Error() string { return e.text }

// Unwrap returns context.DeadlineExceeded, or the cause of the cancellation.
func (e *stopError) Unwrap() error { return e.cause }

// stopped returns the mistake for an evaluation that was stopped at pos.
func (rp *mistakeCollector) stopped(pos diag.Pos, notes []diag.Note) *diag.Error {
	e := &diag.Error{Pos: pos, Notes: notes}
	switch cause := context.Cause(rp.ctx); {
	case errors.Is(cause, errTimeout):
		e.Err = &stopError{fmt.Sprintf("script exceeded the time limit of %s", words.Duration(rp.opts.Timeout)), context.DeadlineExceeded}
		e.Hint = "raise it with --eval-timeout"
	case errors.Is(cause, errMemory):
		e.Err = &stopError{fmt.Sprintf("script exceeded the memory limit of %d MiB", rp.opts.Memory>>20), cause}
	default:
		e.Err = &stopError{"interrupted", cause}
	}
	return e
}

// tellsEnd reports whether a mistake already tells why the evaluation was cancelled: the error of
// a command that took too long names the command.
func tellsEnd(ctx context.Context, e *diag.Error) bool {
	cause := context.Cause(ctx)
	_, stopped := errors.AsType[*stopError](e.Err)
	return cause != nil && !stopped && !ofLimits(cause) && errors.Is(e.Err, cause)
}

// errSilent is the error for a call of error without a message.
var errSilent = errors.New("error called without a message")

// UnplacedError is an error that a script threw without a place, by error(text, 0): it is about
// something that the script found, and not about the script.
type UnplacedError string

// Error returns the mistake.
func (u UnplacedError) Error() string { return string(u) }

// fault returns the mistake that ended an evaluation. The stack of L is still as it was at that
// moment.
func (rp *mistakeCollector) fault(L *lua.LState, r any) *diag.Error {
	e := rp.faultOf(L, r)
	if strings.TrimSpace(e.Err.Error()) == "" {
		e.Err = errSilent
	}
	return e
}

func (rp *mistakeCollector) faultOf(L *lua.LState, r any) *diag.Error {
	if rp.fatal != nil {
		return rp.fatal
	}
	frames := trace(L)
	here := func() (pos diag.Pos, notes []diag.Note) {
		if len(frames) == 0 {
			return diag.Pos{}, nil
		}
		return rp.source.framePos(frames[0]), rp.source.notes(frames)
	}
	err, ok := r.(*lua.ApiError)
	if !ok {
		pos, notes := here()
		return &diag.Error{Pos: pos, Notes: notes, Err: panicked(r)}
	}
	text, ok := err.Object.(lua.LString)
	if !ok && rp.ctx.Err() != nil {
		return rp.stopped(here())
	}
	if !ok {
		pos, notes := here()
		return &diag.Error{Pos: pos, Notes: notes, Err: errors.New(rp.valueText(L, err.Object))}
	}
	if e := rp.lastThrown.mistake; e != nil && string(text) == rp.lastThrown.text {
		if rp.ctx.Err() != nil && !tellsEnd(rp.ctx, e) {
			return rp.stopped(e.Pos, e.Notes)
		}
		return e
	}
	f, rest, found := rp.source.cutPosition(string(text))
	if !found {
		pos, notes := here()
		if rp.ctx.Err() != nil {
			return rp.stopped(pos, notes)
		}
		return &diag.Error{Pos: pos, Notes: notes, Err: UnplacedError(strings.TrimSpace(rest))}
	}
	var notes []diag.Note
	if i := slices.IndexFunc(frames, func(g frame) bool { return g.node == f.node }); i >= 0 {
		f, notes = frames[i], rp.source.notes(frames[i:])
	} else if f.node >= nodeBase {
		// The error comes from a coroutine that is gone, so the calls in its message count. A
		// message without a node was caught and thrown again: its calls are not those that led to
		// the error.
		notes = rp.source.notes(append([]frame{f}, frames...))
	}
	if rp.ctx.Err() != nil {
		return rp.stopped(rp.source.framePos(f), notes)
	}
	e := &diag.Error{Pos: rp.source.framePos(f), Notes: notes}
	if f.column > 0 {
		e.Pos.Col = f.column
	}
	rp.explain(L, e, f, rest)
	return e
}

// panicked returns the error for a panic that is not Lua's.
func panicked(r any) error {
	switch text := fmt.Sprint(r); {
	case strings.Contains(text, "callstack overflow"):
		return fmt.Errorf("stack overflow: more than %d nested calls (look for a function that calls itself without end)", callDepth)
	default:
		return fmt.Errorf("internal error: %s", text)
	}
}

// valueText returns the text of a thrown value that is no string.
func (rp *mistakeCollector) valueText(L *lua.LState, v lua.LValue) (text string) {
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
