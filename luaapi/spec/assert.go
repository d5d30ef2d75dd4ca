package spec

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
)

// The words of luassert without a meaning, and the words that negate an assertion.
var (
	fillers   = []string{"is", "are", "was", "were", "has", "have", "does", "do", "be", "a", "an", "the", "to", "of", "and"}
	negations = []string{"not", "no", "isnt", "arent", "wasnt", "doesnt"}
)

// An asserter is the words of specs that look at values: assert, spy and stub.
type asserter struct {
	in   *luaapi.Interp
	undo []func() // restore functions that spies and stubs have replaced
}

// assertTable returns the global assert: a function, and the beginning of assertions such as
// assert.are.equal.
func (as *asserter) assertTable(L *lua.LState) lua.LValue {
	return as.words(L, nil, nil)
}

// words returns the table for the words so far. Without words, a call of the table is plainAssert.
// Subject is the spy given to assert.spy, or nil.
func (as *asserter) words(L *lua.LState, so []string, subject lua.LValue) *lua.LTable {
	t := L.CreateTable(0, 0)
	mt := L.CreateTable(0, 2)
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		key := L.Get(2).String()
		L.Push(as.words(L, append(slices.Clip(so), strings.Split(strings.ToLower(key), "_")...), subject))
		return 1
	}))
	mt.RawSetString("__call", L.NewFunction(func(L *lua.LState) int {
		L.Remove(1)
		if len(so) == 0 && subject == nil {
			return as.plainAssert(L)
		}
		return as.assertion(L, so, subject)
	}))
	t.Metatable = mt
	return t
}

// plainAssert is Lua's own assert; if it fails, the test has a failure and not an error.
func (as *asserter) plainAssert(L *lua.LState) int {
	if L.GetTop() > 0 && lua.LVAsBool(L.Get(1)) {
		return L.GetTop()
	}
	text := "assertion failed"
	if msg := L.Get(2); msg != lua.LNil {
		text = L.ToStringMeta(msg).String()
	}
	fail(as.in, L, "%s", text)
	return 0
}

// fail ends the test at the place of the script that called.
func fail(in *luaapi.Interp, L *lua.LState, format string, args ...any) {
	in.Throw(L, "", "%w", &failedError{fmt.Sprintf(format, args...)})
}

// An assertion checks its arguments. Check returns whether they fulfill it, the message if they do
// not, and the message if they do after a negation.
type assertion struct {
	name string
	// args is the number of arguments. A further argument is a message.
	args  int
	check func(as *asserter, L *lua.LState, a *assertArgs) (ok bool, text, negated string)
}

// assertArgs are the arguments of an assertion.
type assertArgs struct {
	subject lua.LValue // of assert.spy, or nil
	not     bool
	list    []lua.LValue
}

// at returns argument n, from 0.
func (a *assertArgs) at(n int) lua.LValue {
	if n < len(a.list) {
		return a.list[n]
	}
	return lua.LNil
}

func (as *asserter) assertion(L *lua.LState, so []string, subject lua.LValue) int {
	a := &assertArgs{subject: subject}
	var words []string
	for _, w := range so {
		switch {
		case slices.Contains(negations, w):
			a.not = !a.not
		case w != "" && !slices.Contains(fillers, w):
			words = append(words, w)
		}
	}
	name := strings.Join(words, "_")
	for i := 1; i <= L.GetTop(); i++ {
		a.list = append(a.list, L.Get(i))
	}
	if name == "spy" || name == "stub" {
		if spyOf(a.at(0)) == nil {
			as.in.Throw(L, "", "assert.%s: %w", name, diag.Expected("a spy or stub").Got("%s", as.in.Show(a.at(0))))
		}
		L.Push(as.words(L, nil, a.at(0)))
		return 1
	}
	list := assertions()
	i := slices.IndexFunc(list, func(x assertion) bool { return x.name == name })
	if i < 0 {
		names := make([]string, len(list))
		for k, x := range list {
			names[k] = x.name
		}
		as.in.Throw(L, diag.DidYouMean(name, names), "unknown assertion assert.%s", strings.Join(so, "."))
	}
	x := list[i]
	if len(a.list) < x.args {
		as.in.Throw(L, "", "assert.%s: %w", name, diag.Expected("%d arguments", x.args).Got("%d", len(a.list)))
	}
	ok, text, negated := x.check(as, L, a)
	if ok == a.not {
		if a.not {
			text = negated
		}
		if msg, is := a.at(x.args).(lua.LString); is && x.args > 0 && !strings.Contains(messageless, " "+name+" ") {
			text = string(msg) + "\n" + text
		}
		fail(as.in, L, "%s", text)
	}
	L.Push(lua.LTrue)
	return 1
}

// messageless are the assertions whose further arguments are no message.
const messageless = " error errors error_matches near called_with resource order matches "
