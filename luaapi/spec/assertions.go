package spec

import (
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// assertions lists the assertions behind assert, without the words that have no meaning.
func assertions() []assertion {
	list := []assertion{
		{"equal", 2, equal}, {"equals", 2, equal}, {"same", 2, same}, {"near", 3, near},
		{"matches", 2, matches}, {"match", 2, matches}, {"unique", 1, unique},
		{"truthy", 1, truth(true)}, {"falsy", 1, truth(false)},
		{"error", 1, raises}, {"errors", 1, raises}, {"error_matches", 2, raisesMatching}, {"error_match", 2, raisesMatching},
		{"called", 0, called}, {"called_with", 0, calledWith}, {"returned_with", 0, returnedWith},
		{"called_at_least", 1, calledAtLeast}, {"called_at_most", 1, calledAtMost},
		{"resource", 2, hasResource}, {"order", 2, inOrder}, {"stable", 1, stable},
	}
	for _, v := range []struct {
		name  string
		value lua.LValue
	}{{"true", lua.LTrue}, {"false", lua.LFalse}, {"nil", lua.LNil}} {
		list = append(list, assertion{v.name, 0, is(v.value)})
	}
	for _, t := range []string{"boolean", "number", "string", "table", "function", "userdata", "thread"} {
		list = append(list, assertion{t, 1, isType(t)})
	}
	return list
}

// shown formats a value with its type.
func (as *asserter) shown(v lua.LValue) string {
	if v == lua.LNil {
		return "(nil)"
	}
	return fmt.Sprintf("(%s) %s", v.Type(), as.in.Show(v))
}

func (as *asserter) expected(what string, got, want lua.LValue) string {
	return fmt.Sprintf("Expected %s.\nPassed in:\n%s\nExpected:\n%s", what, as.shown(got), as.shown(want))
}

func equal(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	return L.Equal(a.at(0), a.at(1)), as.expected("objects to be equal", a.at(1), a.at(0)), as.expected("objects to not be equal", a.at(1), a.at(0))
}

func same(as *asserter, _ *lua.LState, a *assertArgs) (bool, string, string) {
	ok := as.equal(a.at(0), a.at(1), nil)
	return ok, as.expected("objects to be the same", a.at(1), a.at(0)), as.expected("objects to not be the same", a.at(1), a.at(0))
}

func near(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	want, ok1 := a.at(0).(lua.LNumber)
	got, ok2 := a.at(1).(lua.LNumber)
	tolerance, ok3 := a.at(2).(lua.LNumber)
	if !ok1 || !ok2 || !ok3 {
		as.in.Throw(L, "", "assert.near: %w", diag.Expected("three numbers"))
	}
	text := fmt.Sprintf("%v to be within %v of %v", got, tolerance, want)
	return math.Abs(float64(want-got)) <= float64(tolerance), "Expected " + text + ".", "Expected not " + text + "."
}

func matches(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	text := as.text(L, "matches", a.at(1))
	return as.find(L, text, a.at(0)), fmt.Sprintf("Expected text to match %s.\nPassed in:\n%s", as.in.Show(a.at(0)), text),
		fmt.Sprintf("Expected text to not match %s.\nPassed in:\n%s", as.in.Show(a.at(0)), text)
}

// text returns an argument that must be one.
func (as *asserter) text(L *lua.LState, name string, v lua.LValue) string {
	s, ok := v.(lua.LString)
	if !ok {
		as.in.Throw(L, "", "assert.%s: %w", name, diag.Expected("a string").Got("%s", as.in.Show(v)))
	}
	return string(s)
}

// find reports whether a pattern of Lua occurs in a text.
func (as *asserter) find(L *lua.LState, text string, pattern lua.LValue) bool {
	L.Push(L.GetField(L.GetMetaField(lua.LString(""), "__index"), "find"))
	L.Push(lua.LString(text))
	L.Push(pattern)
	L.Call(2, 1)
	found := L.Get(-1) != lua.LNil
	L.Pop(1)
	return found
}

func unique(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	t, ok := a.at(0).(*lua.LTable)
	if !ok {
		as.in.Throw(L, "", "assert.unique: %w", diag.Expected("a list").Got("%s", as.in.Show(a.at(0))))
	}
	t = as.in.Tables.Listing(L, t)
	for i := 1; i <= t.Len(); i++ {
		for k := i + 1; k <= t.Len(); k++ {
			if as.equal(t.RawGetInt(i), t.RawGetInt(k), nil) {
				return false, fmt.Sprintf("Expected unique items.\nItems %d and %d are:\n%s", i, k, as.shown(t.RawGetInt(i))), ""
			}
		}
	}
	return true, "", "Expected items that are not unique."
}

func is(want lua.LValue) func(*asserter, *lua.LState, *assertArgs) (bool, string, string) {
	return func(as *asserter, _ *lua.LState, a *assertArgs) (bool, string, string) {
		return a.at(0) == want, as.expected("objects to be equal", a.at(0), want), as.expected("objects to not be equal", a.at(0), want)
	}
}

func isType(name string) func(*asserter, *lua.LState, *assertArgs) (bool, string, string) {
	return func(as *asserter, _ *lua.LState, a *assertArgs) (bool, string, string) {
		text := "a " + name + ".\nPassed in:\n" + as.shown(a.at(0))
		return a.at(0).Type().String() == name, "Expected " + text, "Expected anything but " + text
	}
}

func truth(want bool) func(*asserter, *lua.LState, *assertArgs) (bool, string, string) {
	words := map[bool]string{true: "truthy", false: "falsy"}
	return func(as *asserter, _ *lua.LState, a *assertArgs) (bool, string, string) {
		return lua.LVAsBool(a.at(0)) == want, fmt.Sprintf("Expected to be %s, but value was:\n%s", words[want], as.shown(a.at(0))),
			fmt.Sprintf("Expected to not be %s, but value was:\n%s", words[want], as.shown(a.at(0)))
	}
}

// placePrefix matches the place at the beginning of an error's message.
var placePrefix = lazyregexp.New(`^[^:\n]*:\d+:(\d+:)? `)

func raises(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	thrown, quiet := as.in.Try(L, as.callable(L, a.at(0)))
	got := "Error raised:\n" + as.shown(thrown)
	if quiet {
		return false, "Expected an error, but none was raised.", ""
	}
	want := a.at(1)
	if want == lua.LNil {
		return true, "", "Expected no error, but:\n" + got
	}
	ok := as.equal(want, thrown, nil)
	if s, is := thrown.(lua.LString); is && !ok {
		ok = want == lua.LValue(lua.LString(placePrefix().ReplaceAllString(string(s), "")))
	}
	return ok, "Expected another error.\n" + got + "\nExpected:\n" + as.shown(want), "Expected another error or none.\n" + got
}

func raisesMatching(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	thrown, quiet := as.in.Try(L, as.callable(L, a.at(0)))
	if quiet {
		return false, "Expected an error, but none was raised.", ""
	}
	text := L.ToStringMeta(thrown).String()
	return as.find(L, text, a.at(1)), fmt.Sprintf("Expected an error that matches %s.\nError raised:\n%s", as.in.Show(a.at(1)), text),
		fmt.Sprintf("Expected no error that matches %s.\nError raised:\n%s", as.in.Show(a.at(1)), text)
}

func (as *asserter) callable(L *lua.LState, v lua.LValue) lua.LValue {
	if _, ok := v.(*lua.LFunction); !ok && L.GetMetaField(v, "__call") == lua.LNil {
		as.in.Throw(L, "", "%w", diag.Expected("a function").Got("%s", as.in.Show(v)))
	}
	return v
}

// equal compares deeply. Tables that hold themselves are compared once.
func (as *asserter) equal(x, y lua.LValue, seen map[[2]*lua.LTable]bool) bool {
	a, ok1 := x.(*lua.LTable)
	b, ok2 := y.(*lua.LTable)
	if !ok1 || !ok2 {
		return x == y
	}
	a, b = as.in.Tables.Contents(a), as.in.Tables.Contents(b)
	if a == b || seen[[2]*lua.LTable{a, b}] {
		return true
	}
	if seen == nil {
		seen = make(map[[2]*lua.LTable]bool)
	}
	seen[[2]*lua.LTable{a, b}] = true
	n := 0
	for k, v := a.Next(lua.LNil); k != lua.LNil; k, v = a.Next(k) {
		n++
		if !as.equal(v, b.RawGet(k), seen) {
			return false
		}
	}
	for k, _ := b.Next(lua.LNil); k != lua.LNil; k, _ = b.Next(k) {
		n--
	}
	return n == 0
}
