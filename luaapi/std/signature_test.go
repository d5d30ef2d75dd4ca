package std

import (
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/luadata"
)

func TestSignature(t *testing.T) {
	sig, err := parseSignature(`f(a: string, b?: integer|nil, list: (string|number)[], o: { x?: "on"|"off", y: boolean }, fn: fun(v: any): string, ...: table<string, any>): (text: string, n: integer)`)
	require.NoError(t, err)
	require.Equal(t, "f", sig.Name)
	var params, wants []string
	for _, p := range sig.Params {
		params = append(params, p.Name+" "+p.Type.Text)
		wants = append(wants, p.Type.String())
	}
	require.Equal(t, []string{
		"a string", "b integer|nil", "list (string|number)[]", `o { x?: "on"|"off", y: boolean }`, "fn fun(v: any): string", "... table<string, any>",
	}, params)
	require.Equal(t, []string{"a string", "an integer or nil", "a list", "a table", "a function", "a table"}, wants)
	require.Equal(t, []string{"on", "off"}, sig.Params[3].Type.fields[0].Type.values)
	require.True(t, sig.Params[5].Rest)
	require.Equal(t, "text", sig.Returns[0].Name)
	require.Equal(t, "one of \"on\", \"off\"", sig.Params[3].Type.fields[0].Type.mismatch(lua.LString("of")))
	require.Empty(t, sig.Params[1].Type.mismatch(lua.LNumber(3)))

	for text, want := range map[string]string{
		`f`:             `signature "f": expected ( at ""`,
		`f(a)`:          `signature "f(a)": expected : at ")"`,
		`f(a: strng)`:   `signature "f(a: strng)": expected a type at ")"`,
		`f(a: string`:   `signature "f(a: string": expected , at ""`,
		`f(): x`:        `signature "f(): x": expected a type at ""`,
		`f(a: "x)`:      `signature "f(a: \"x)": expected " at "x)"`,
		`f() nonsense`:  `signature "f() nonsense": expected the end at "nonsense"`,
		`f(?: string)`:  `signature "f(?: string)": expected a name at "?: string)"`,
		`f(a: table<x)`: `signature "f(a: table<x)": expected a type at ")"`,
	} {
		_, err := parseSignature(text)
		require.EqualError(t, err, want, text)
	}
}

// Every signature can be parsed, and no parameter has the name of a Lua keyword.
func TestSignatures(t *testing.T) {
	for _, lib := range Libraries() {
		for i := range lib.Funcs {
			sig, err := parseSignature(lib.Funcs[i].Signature)
			require.NoError(t, err)
			for _, p := range sig.Params {
				require.True(t, p.Rest || luadata.IsName(p.Name), "%s: %s", sig.Name, p.Name)
			}
		}
	}
}
