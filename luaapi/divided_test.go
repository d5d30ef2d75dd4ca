package luaapi_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/test/luadiff"
)

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
