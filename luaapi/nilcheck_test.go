package luaapi_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
)

// TestWrittenNil: a property with an expression that is nil is reported once for each place, in every form of a
// declaration and however it is compiled.
func TestWrittenNil(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`local c = { txt = "a" } file { "/a", content = c.text }`, []string{`x.lua:1:48: content is nil (c.text) (did you mean "txt"?)`}},
		{`local c = {} file "/a" { content = c.text }`, []string{"x.lua:1:36: content is nil (c.text)"}},
		{`local c = {} file("/a", { content = c["a b"] })`, []string{`x.lua:1:37: content is nil (c["a b"])`}},
		{`local f, c = file, {} f { "/a", content = c.text, mode = "0644" }`, []string{"x.lua:1:43: content is nil (c.text)"}},
		{`local c = {} file.defaults { owner = c.owner } file "/a"`, []string{"x.lua:1:38: owner is nil (c.owner)"}},
		{`local c = {} file { "/a", content = c.a and c.b, owner = string.match("x", "y") }`, []string{
			"x.lua:1:37: content is nil (c.a and c.b)", "x.lua:1:58: owner is nil (string.match())",
		}},
		{`local c = {} exec { "a", command = "b", health_checks = { { command = "x", name = c.name } }, require = { "exec#z", c.other } }`, []string{
			"x.lua:1:83: health_checks[1].name is nil (c.name)", "x.lua:1:117: require[2] is nil (c.other)",
		}},
		{`local function f(n, text) file { n, content = text } end f("/a") f("/b", "x") for i = 1, 3 do f("/c" .. i) end`, []string{
			"x.lua:1:47: content is nil (text)",
		}},
		{`local c = {} file { "/a", content = nil, owner = c.o or nil, group = ccm.optional(c.g), mode = c.m and ccm.optional(c.m) }`, nil},
		{`local optional = ccm.optional file { "/a", content = optional() }`, nil},
		{`local function f() end file { "/a", require = { f() } }`, nil},
		{`local c = { text = "" } file { "/a", content = c.text, force = false }`, nil},
		{`local p = {} file("/a", p) file { content = "x", "/b" }`, nil},
	} {
		for _, sites := range []bool{true, false} {
			var b catalog.Builder
			var out bytes.Buffer
			var warned []string
			o := options(t, &b, &out)
			o.Warn = func(pos diag.Pos, msg string) { warned = append(warned, pos.String()+": "+msg) }
			in := luaapi.New(o)
			if !sites {
				in.WithoutCallSites()
			}
			_ = in.Run(context.Background(), "x.lua", c.text)
			require.Equal(t, c.want, warned, "%s (sites: %t)", c.text, sites)
			in.Close()

			o.Strict, warned = true, nil
			o.Builder = new(catalog.Builder)
			in = luaapi.New(o)
			err := in.Run(context.Background(), "x.lua", c.text)
			require.Empty(t, warned)
			if c.want != nil {
				require.ErrorContains(t, err, " is nil ", c.text)
			} else if err != nil {
				require.NotContains(t, err.Error(), "given as nil")
			}
			in.Close()
		}
	}
}
