package model_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/studio/model"
)

const script = `local line = require "std.line"
file.defaults { owner = "root" }
-- the message
file { "/etc/motd", content = "hi", mode = "0644" } -- short
package { "vim", "zsh", ensure = "latest" }
file { path = "/etc/issue", owner = facts.user, tags = { "a", "b" } }
line.line { "x", path = "/etc/hosts" }
std.line.defaults { path = "/etc/group" }
std.line { "z" }
local a = exec "ls"
for i = 1, 2 do file { "/etc/" .. i } end
if facts.x then package "git" end
print { "no resource" }
`

func luaTypes() model.Types {
	t := model.Types{"line": {}}
	maps.Copy(t, types)
	return t
}

func readLua(t *testing.T, text string) *model.Model {
	t.Helper()
	m, err := model.Read("site.lua", text, luaTypes())
	require.NoError(t, err)
	return m
}

func TestReadLua(t *testing.T) {
	m := readLua(t, script)
	require.Equal(t, []string{"file#/etc/motd", "package#vim", "file#/etc/issue", "line#x", "line#z", "exec#ls", `file#"/etc/" .. i`, "package#git"}, keys(m))
	motd := m.Resources[0]
	require.Equal(t, []int{4, 1}, []int{motd.Line, motd.Column})
	require.Equal(t, "hi", motd.Prop("content").Value)
	require.Equal(t, "root", motd.Defaults[0].Value)
	require.Equal(t, []string{"vim", "zsh"}, m.Resources[1].Names)
	require.Equal(t, 1, m.Resources[1].Shared)
	require.Nil(t, m.Resources[2].Prop("path"))
	require.Equal(t, "/etc/group", m.Resources[4].Defaults[0].Value)
	for i, want := range []model.Form{model.Literal, model.Partly, model.Partly, model.Literal, model.Literal, model.Literal, model.None, model.Partly} {
		require.Equal(t, want, m.Resources[i].Form, m.Resources[i].Key)
		require.Equal(t, want == model.Literal, m.Resources[i].Reason == "", m.Resources[i].Reason)
	}
}

func TestApplyLua(t *testing.T) {
	for _, c := range []struct {
		e        model.Edit
		old, new string
	}{
		{model.Edit{Op: model.Set, Resource: "file#/etc/motd", Property: "content", Value: "ho"}, `"hi"`, `"ho"`},
		{model.Edit{Op: model.Set, Resource: "file#/etc/motd", Property: "content", Expression: "facts.host"}, `"hi"`, `facts.host`},
		{model.Edit{Op: model.Set, Resource: "file#/etc/issue", Property: "tags", Path: []any{1}, Value: "c"}, `"b" }`, `"c" }`},
		{model.Edit{Op: model.Insert, Resource: "file#/etc/issue", Property: "tags", Index: 2, Value: "c"}, `"b" }`, `"b", "c" }`},
		{model.Edit{Op: model.Order, Resource: "file#/etc/issue", Property: "tags", Index: 0, To: 1}, `"a", "b"`, `"b", "a"`},
		{model.Edit{Op: model.Unset, Resource: "file#/etc/motd", Property: "mode"}, `, mode = "0644"`, ``},
		{model.Edit{Op: model.Rename, Resource: "file#/etc/issue", Name: "/x"}, `"/etc/issue"`, `"/x"`},
		{model.Edit{Op: model.Rename, Resource: "package#git", Name: "hg"}, `"git"`, `"hg"`},
		{model.Edit{Op: model.Remove, Resources: []string{"file#/etc/motd", "line#x"}}, "", ""},
		{model.Edit{Op: model.Copy, Resources: []string{"line#x"}}, "/hosts\" }\n", "/hosts\" }\nline.line { \"x-2\", path = \"/etc/hosts\" }\n"},
		{model.Edit{Op: model.Add, Type: "package", Name: "git", At: "line#x"}, "line.line {", "package \"git\"\nline.line {"},
		{model.Edit{Op: model.Add, Type: "package", Name: "git", Props: []model.Prop{{Name: "ensure", Value: "latest", Literal: true}}}, "\" }\nlocal a", "\" }\nlocal a"},
		{model.Edit{Op: model.Move, Resources: []string{"line#x"}, At: "package#vim"}, "", ""},
		{model.Edit{Op: model.Paste, Text: "exec 'a'", At: "package#vim"}, "package { \"vim\"", "exec 'a'\npackage { \"vim\""},
		{model.Edit{Op: model.Split, Resource: "package#vim", Name: "zsh"}, `package { "vim", "zsh", ensure = "latest" }`, "package { \"vim\", ensure = \"latest\" }\npackage { \"zsh\", ensure = \"latest\" }"},
	} {
		out, splices, err := readLua(t, script).Apply(c.e)
		require.NoError(t, err, "%+v", c.e)
		require.NotEmpty(t, splices)
		if c.old != c.new {
			require.Equal(t, strings.Replace(script, c.old, c.new, 1), out.Text)
		}
		require.Equal(t, readLua(t, out.Text).Resources, out.Resources)
	}
	for _, e := range []model.Edit{
		{Op: model.Set, Resource: `file#"/etc/" .. i`, Property: "owner", Value: "x"},
		{Op: model.Copy, Resources: []string{"exec#ls"}},
		{Op: model.Unset, Resource: "file#/etc/motd", Property: "owner"},
		{Op: model.Add, Type: "end", Name: "x"},
	} {
		_, _, err := readLua(t, script).Apply(e)
		require.Error(t, err, "%+v", e)
	}
}

// TestAddShipped: a type of a shipped module is written as std.NAME, unless the script has a variable for it.
func TestAddShipped(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "std.line \"x\"\n",
		"local line = require \"std.line\"\n": "local line = require \"std.line\"\nline \"x\"\n",
		"local line = std.line\n":             "local line = std.line\nline \"x\"\n",
		"local line = 5\n":                    "local line = 5\nstd.line \"x\"\n",
	} {
		m, err := model.Read("site.lua", text, model.Types{"line": {Module: "std.line"}})
		require.NoError(t, err)
		out, _, err := m.Apply(model.Edit{Op: model.Add, Type: "line", Name: "x"})
		require.NoError(t, err)
		require.Equal(t, want, out.Text)
		require.Equal(t, "line#x", out.Resources[0].ID)
	}
}
