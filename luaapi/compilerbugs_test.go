package luaapi

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
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

// Every instruction has a position, so that the message of an interruption has one.
func TestPositionsOfInstructions(t *testing.T) {
	in := New(Options{Builder: new(catalog.Builder), Registry: new(resource.Registry), Timeout: time.Minute})
	defer in.Close()
	for _, text := range []string{
		"while true do local t = {} t[#t + 1] = ('x'):rep(3) .. #t end",
		"repeat x = x .. 'y' until #x > 3", "for k in pairs({}) do x = #k end",
		"local function f() while true do x = #x .. x end end",
	} {
		fn, _, err := in.modules.load("x", "", text)
		require.NoError(t, err)
		for _, p := range append(fn.Proto.FunctionPrototypes, fn.Proto) {
			// The last instruction returns from the text.
			require.NotContains(t, p.DbgSourcePositions[:len(p.DbgSourcePositions)-1], 0, text)
		}
	}
}
