package luaapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A mistakeCollector collects the mistakes of an evaluation and throws those that end it.
type mistakeCollector struct {
	opts     *Options
	source   *sourceMap
	globals  *globalTable
	contents func(*lua.LTable) *lua.LTable // of read-only tables
	join     *lua.LFunction                // what the operator .. is compiled to

	ctx        context.Context // of the innermost evaluation
	mistakes   diag.List
	assigned   map[string]bool // reported assignments to globals
	lastThrown thrownError
	fatal      *diag.Error // ccm.fail, or nil
}

// reset begins an evaluation without mistakes.
func (rp *mistakeCollector) reset() {
	rp.mistakes, rp.assigned, rp.lastThrown, rp.fatal = nil, make(map[string]bool), thrownError{}, nil
}

// A thrownError is a mistake on its way through Lua. Lua sees it as a text, which a script that
// catches it expects. The mistake is found again by that text.
type thrownError struct {
	text    string
	mistake *diag.Error
}

// raise throws a mistake.
func (rp *mistakeCollector) raise(L *lua.LState, e *diag.Error) {
	rp.lastThrown = thrownError{e.Pos.String() + ": " + e.Message(), e}
	L.Error(lua.LString(rp.lastThrown.text), 0)
}

// throw throws a mistake at the place of the calling script.
func (rp *mistakeCollector) throw(L *lua.LState, hint, format string, args ...any) {
	f, notes := rp.source.origin(L)
	err := fmt.Errorf(format, args...)
	rp.raise(L, &diag.Error{Pos: rp.source.framePos(f), Err: err, Hint: cmp.Or(hint, diag.HintOf(err)), Notes: notes})
}

// throwError throws an error of this program, with its hint if it has one.
func (rp *mistakeCollector) throwError(L *lua.LState, err error) {
	rp.throw(L, "", "%w", err)
}

// note records a mistake at the place of the calling script, which goes on.
func (rp *mistakeCollector) note(L *lua.LState, err error, hint string) {
	rp.noteAt(L, caller(L), err, hint)
}

func (rp *mistakeCollector) noteAt(L *lua.LState, f frame, err error, hint string) {
	rp.mistakes.Add(&diag.Error{Pos: rp.source.framePos(f), Err: err, Hint: hint, Notes: rp.source.chain(L, f)})
}

// warn reports a likely mistake as a warning or, with Strict, as an error.
func (rp *mistakeCollector) warn(L *lua.LState, f frame, e *diag.Error) {
	if rp.opts.Strict {
		e.Notes = rp.source.chain(L, f)
		rp.mistakes.Add(e)
		return
	}
	rp.opts.Warn(e.Pos, e.Message())
}

// dropRepeated removes repeated mistakes. The mistakes from number before on are those of a
// further name; those from number first on are those of earlier names, which share its
// properties.
func (rp *mistakeCollector) dropRepeated(first, before int, where *locator) {
	shared := rp.mistakes[first:before]
	call := where.Locate(nil, false)
	rest := slices.DeleteFunc(rp.mistakes[before:], func(e *diag.Error) bool {
		return e.Pos != call && slices.ContainsFunc(shared, func(o *diag.Error) bool {
			return o.Pos == e.Pos && o.Err.Error() == e.Err.Error()
		})
	})
	rp.mistakes = rp.mistakes[:before+len(rest)]
}
