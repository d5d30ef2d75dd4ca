package luaapi_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/test/luadiff"
)

// TestYieldInDividedFunction: the parts of a divided function yield as the whole would.
func TestYieldInDividedFunction(t *testing.T) {
	script := data("local f = coroutine.wrap(function(...)\nlocal t = {}\n", "t['k%d'] = coroutine.yield('v%[1]d')\n", 400)
	script = longText + strings.TrimSuffix(script, "}\n") + "return 'done'\nend)\nlocal n = 0\nfor i in f do n = i if i == 'done' then break end end\nprint(n, pcall(f))\n"
	var b catalog.Builder
	var print bytes.Buffer
	in := luaapi.New(options(t, &b, &print))
	defer in.Close()
	n, err := in.Divisions(script)
	require.NoError(t, err)
	require.Positive(t, n)
	require.NoError(t, in.Run(t.Context(), "site.lua", script))
	require.Equal(t, "done\tfalse\tcannot resume dead coroutine\n", print.String())
}

// TestLongProgramsAreDivided: the long programs of make lua-diff are some that the rewriter divides, so that it compares
// divided functions with those of Lua.
func TestLongProgramsAreDivided(t *testing.T) {
	divisions := func(text string) int {
		var b catalog.Builder
		var print bytes.Buffer
		in := luaapi.New(options(t, &b, &print))
		defer in.Close()
		n, err := in.Divisions(text)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, divisions("local function f() return function() end end local t = { f = function() end } function t.g() end"))
	for _, seed := range []uint64{7, 15} {
		require.True(t, luadiff.IsLong(seed))
		require.Greater(t, divisions(luadiff.Generate(seed).String()), 10, "seed %d", seed)
	}
}
