package luaapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

func TestMend(t *testing.T) {
	for text, want := range map[string]string{
		`local t = { "a", x = tostring("b") } return #t .. t.x`:                                         "1b",
		`local t = { "a", x = ("b"):upper() } return #t .. t.x`:                                         "1B",
		`local function f(...) local t = { 1, x = ... } return #t end return f(5, 6)`:                   "1",
		`local function f(a) a = (tostring(a)) return a end return f(1)`:                                "1",
		`local function f(a) local b a, b = tostring(a), 2 return a .. b end return f(1)`:               "12",
		`local function f(a) local b a, b = (tostring(a)) return a end return f(1)`:                     "1",
		`local o = {} function o:m() self = (rawlen and 1 or tostring(2)) return self end return o:m()`: "2",
		`local function f() return 1, 2, 3 end return #{ 0, f() }`:                                      "4",
		`return #{ { "a", x = tostring(1) }, { "b", y = { "c", z = tostring(2) } } }`:                   "2",
	} {
		stmts, err := parse.Parse(strings.NewReader(text), "x")
		require.NoError(t, err)
		fixCompilerBugs(stmts)
		proto, err := lua.Compile(stmts, "x")
		require.NoError(t, err)
		L := lua.NewState()
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 1)
		require.Equal(t, want, L.Get(-1).String(), text)
		L.Close()
	}
}
