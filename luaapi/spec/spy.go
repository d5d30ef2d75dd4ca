package spec

import (
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A spy records the calls of a function.
type spy struct {
	fn      lua.LValue // the function behind the spy; nil for none
	calls   [][]lua.LValue
	results [][]lua.LValue
	returns []lua.LValue // of a stub
	revert  func()
}

// spyOf returns the spy that v is, or nil.
func spyOf(v lua.LValue) *spy {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil
	}
	ud, ok := t.RawGetString("\x00spy").(*lua.LUserData)
	if !ok {
		return nil
	}
	return ud.Value.(*spy)
}

// table returns the table that scripts call.
func (s *spy) table(L *lua.LState) *lua.LTable {
	t := L.CreateTable(0, 4)
	t.RawSetString("\x00spy", &lua.LUserData{Value: s})
	t.RawSetString("clear", L.NewFunction(func(*lua.LState) int {
		s.calls, s.results = nil, nil
		return 0
	}))
	t.RawSetString("revert", L.NewFunction(func(*lua.LState) int {
		if s.revert != nil {
			s.revert()
		}
		return 0
	}))
	t.RawSetString("returns", L.NewFunction(func(L *lua.LState) int {
		s.returns, s.fn = arguments(L, 1), nil
		L.Push(t)
		return 1
	}))
	mt := L.CreateTable(0, 1)
	mt.RawSetString("__call", L.NewFunction(s.call))
	t.Metatable = mt
	return t
}

// arguments returns the arguments from number n on.
func arguments(L *lua.LState, n int) []lua.LValue {
	var list []lua.LValue
	for i := n; i <= L.GetTop(); i++ {
		list = append(list, L.Get(i))
	}
	return list
}

func (s *spy) call(L *lua.LState) int {
	args := arguments(L, 2)
	s.calls = append(s.calls, args)
	results := s.returns
	if s.fn != nil {
		top := L.GetTop()
		L.Push(s.fn)
		for _, a := range args {
			L.Push(a)
		}
		L.Call(len(args), lua.MultRet)
		results = arguments(L, top+1)
	}
	s.results = append(s.results, results)
	for _, v := range results {
		L.Push(v)
	}
	return len(results)
}

// spyTable is the global spy.
func (as *asserter) spyTable(L *lua.LState) lua.LValue {
	t := L.CreateTable(0, 2)
	create := func(L *lua.LState, fn lua.LValue) int {
		s := new(spy)
		if fn != lua.LNil {
			s.fn = as.callable(L, fn)
		}
		L.Push(s.table(L))
		return 1
	}
	t.RawSetString("new", L.NewFunction(func(L *lua.LState) int { return create(L, L.Get(1)) }))
	t.RawSetString("on", L.NewFunction(func(L *lua.LState) int { return as.replace(L, true) }))
	mt := L.CreateTable(0, 1)
	mt.RawSetString("__call", L.NewFunction(func(L *lua.LState) int { return create(L, L.Get(2)) }))
	t.Metatable = mt
	return t
}

// stubTable is the global stub: stub(t, name), and stub.new(t, name).
func (as *asserter) stubTable(L *lua.LState) lua.LValue {
	t := L.CreateTable(0, 1)
	t.RawSetString("new", L.NewFunction(func(L *lua.LState) int { return as.replace(L, false) }))
	mt := L.CreateTable(0, 1)
	mt.RawSetString("__call", L.NewFunction(func(L *lua.LState) int {
		L.Remove(1)
		return as.replace(L, false)
	}))
	t.Metatable = mt
	return t
}

// replace puts a spy into a table, for the rest of the test.
func (as *asserter) replace(L *lua.LState, through bool) int {
	t, ok := L.Get(1).(*lua.LTable)
	if !ok {
		as.in.Throw(L, "", "%w", diag.Expected("a table with the function to replace").Got("%s", as.in.Show(L.Get(1))))
	}
	key := L.Get(2)
	old := L.GetTable(t, key)
	s := new(spy)
	if through {
		s.fn = as.callable(L, old)
	}
	if L.GetTop() > 2 {
		s.returns = arguments(L, 3)
	}
	L.SetTable(t, key, s.table(L)) // a read-only table says so
	s.revert = func() { t.RawSet(key, old) }
	as.undo = append(as.undo, s.revert)
	L.Push(t.RawGet(key))
	return 1
}

// subjectSpy returns the spy that an assertion is about.
func (as *asserter) subjectSpy(L *lua.LState, a *assertArgs) *spy {
	s := spyOf(a.subject)
	if s == nil {
		as.in.Throw(L, "use assert.spy(s).was.called()", "%w", diag.Expected("a spy"))
	}
	return s
}

func called(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	s := as.subjectSpy(L, a)
	n := len(s.calls)
	if want, ok := a.at(0).(lua.LNumber); ok {
		return n == int(want), fmt.Sprintf("Expected to be called %v times, but was called %d times.", want, n),
			fmt.Sprintf("Expected not to be called exactly %v times, but it was.", want)
	}
	return n > 0, "Expected to be called, but was called 0 times.", fmt.Sprintf("Expected not to be called, but was called %d times.", n)
}

func calledAtLeast(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	n, want := len(as.subjectSpy(L, a).calls), lua.LVAsNumber(a.at(0))
	return n >= int(want), fmt.Sprintf("Expected at least %v calls, got %d.", want, n), fmt.Sprintf("Expected less than %v calls, got %d.", want, n)
}

func calledAtMost(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	n, want := len(as.subjectSpy(L, a).calls), lua.LVAsNumber(a.at(0))
	return n <= int(want), fmt.Sprintf("Expected at most %v calls, got %d.", want, n), fmt.Sprintf("Expected more than %v calls, got %d.", want, n)
}

// among reports whether list contains the values, and formats the list.
func (as *asserter) among(list [][]lua.LValue, values []lua.LValue) (bool, string) {
	found, text := false, ""
	for _, have := range list {
		ok := len(have) == len(values)
		text += "\n"
		for i, v := range have {
			ok = ok && as.equal(v, values[i], nil)
			if i > 0 {
				text += ", "
			}
			text += as.shown(v)
		}
		found = found || ok
	}
	return found, text
}

func calledWith(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	found, text := as.among(as.subjectSpy(L, a).calls, a.list)
	_, want := as.among([][]lua.LValue{a.list}, nil)
	return found, "Expected to be called with:" + want + "\nbut was called with:" + text, "Expected not to be called with:" + want
}

func returnedWith(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	found, text := as.among(as.subjectSpy(L, a).results, a.list)
	_, want := as.among([][]lua.LValue{a.list}, nil)
	return found, "Expected to return:" + want + "\nbut it returned:" + text, "Expected not to return:" + want
}

// restore restores functions that spies and stubs have replaced.
func (as *asserter) restore() {
	for _, f := range slices.Backward(as.undo) {
		f()
	}
	as.undo = nil
}
