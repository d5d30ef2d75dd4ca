package luaapi_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
)

// The globals of an extension are made once, when a script first uses one.
func TestExtension(t *testing.T) {
	made := map[string]int{}
	var out bytes.Buffer
	b := new(catalog.Builder)
	in := luaapi.New(luaapi.Options{Registry: registry(t), Builder: b, Print: &out, Extend: func(in *luaapi.Interp) {
		for _, name := range []string{"used", "unused"} {
			in.Define(name, "lib."+name, func(L *lua.LState) lua.LValue {
				made[name]++
				contents := L.CreateTable(0, 1)
				contents.RawSetString("answer", lua.LNumber(42))
				contents.RawSetString("null", &lua.LUserData{Value: luaapi.Null{}})
				return in.Tables.Library(name, contents)
			})
		}
		in.Field("here", func(L *lua.LState) lua.LValue { return lua.LString(in.Caller(L).Dir()) })
	}})
	defer in.Close()
	run := func(script string) error { return in.Run(context.Background(), "/site/site.lua", script) }

	require.NoError(t, run(`print(used.answer, require("lib.used") == used, ccm.here, ccm.noop)`))
	require.Equal(t, "42\ttrue\t/site\tfalse\n", out.String())
	require.Equal(t, map[string]int{"used": 1}, made)

	for script, want := range map[string]string{
		`used.anwser = 1`:     `used.anwser is read-only`,
		`print(used.anwser)`:  `used: unknown name "anwser" (did you mean "answer"?)`,
		`print(usde)`:         `undefined global "usde" (did you mean "used"?)`,
		`used = 1`:            `"used" is a global of ccm and cannot be replaced`,
		`print(ccm.hree)`:     `ccm: unknown name "hree" (did you mean "here"?)`,
		`print(ccm.versoin)`:  `ccm: unknown name "versoin" (did you mean "version"?)`,
		`require "lib.other"`: `module 'lib.other' not found`,
	} {
		require.ErrorContains(t, run(script), want, script)
	}

	// A null counts as nil for a property, and is no item of a list.
	require.NoError(t, run(`file { "/a", content = used.null, owner = "root" }`))
	require.Nil(t, b.Resources()[0].Spec.(*fileProps).Content)
}
