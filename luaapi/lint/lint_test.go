package lint_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/luaapi/stubs"
	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

func linter(t *testing.T) *lint.Linter {
	reg, err := resource.NewRegistry(posix.Providers()...)
	require.NoError(t, err)
	h, _ := hosttest.New(t, nil)
	in := luaapi.New(luaapi.Options{Registry: reg, Builder: new(catalog.Builder), Extend: std.Options{View: &h.View}.Extend})
	defer in.Close()
	page, err := os.ReadFile("../../docs/facts.md")
	require.NoError(t, err)
	lang := &stubs.Language{FactsPage: string(page)}
	return &lint.Linter{Registry: reg, Libraries: std.Libraries(), Globals: in.Globals(), FactFields: lang.FactFields}
}

// The findings of each rule, and correct code without findings.
func TestCheck(t *testing.T) {
	l := linter(t)
	for _, c := range []struct{ text, want string }{
		// Scopes.
		{"local x = x\nreturn x", `a.lua:1:11: undefined global "x"`},
		{"local function f() return f() end", ""}, // used by itself only, which counts
		{"local f = function() return f() end return f", ""},
		{"do local a = 1 print(a) end return a", `a.lua:1:36: undefined global "a"`},
		{"repeat local a = 1 until a", ""},
		{"for i = i, 2 do print(i) end", `a.lua:1:9: undefined global "i"`},
		{"return { ensure = absent, absnet }", "a.lua:1:19: undefined global \"absent\" (a text needs quotes: \"absent\")\na.lua:1:27: undefined global \"absnet\""},
		{"for k, v in pairs(v) do print(k) end", `a.lua:1:19: undefined global "v"`},
		{"local M = {} function M:f() return self end return M", ""},
		{"local M = {} function M.f() return self end return M", `a.lua:1:36: undefined global "self"`},
		{"local a = 1 a = 2", `a.lua:1:7: local variable "a" is never used (remove it, or call it _a)`},
		{"local a = 1 local a = 2 return a", `a.lua:1:7: local variable "a" is never used (remove it, or call it _a)`},
		{"local _ = 1 local _x = 2", ""},
		{"local function f(a, b) return b end return f", ""},
		{"if x1 then local y = 1 elseif 2 then return 3 end", "a.lua:1:4: undefined global \"x1\"\na.lua:1:18: local variable \"y\" is never used (remove it, or call it _y)"},
		{"cout = 1 return cout", `a.lua:1:1: assignment to undefined global "cout" (declare it with local cout)`},
		{"local count = 1 coutn = count", `a.lua:1:17: assignment to undefined global "coutn" (did you mean "count"? declare a new variable with local coutn)`},
		{"print = 1", `a.lua:1:1: "print" is a global of ccm and cannot be replaced (declare a variable with local print)`},
		// Escapes.
		{`return '\\x41', "\065", [[\x41]]`, ""},
		{"return 'a\\\n\\x'", `a.lua:2:1: \x is not an escape in Lua 5.1: it means x`},
		{`return "é\x41"`, `a.lua:1:11: \x is not an escape in Lua 5.1: it means x (write \065)`},
		// Properties.
		{`local m = require "m" file { "/a", content = m.x, mode = m.y, owner = "root" }`, ""},
		// Values that are nil in every run.
		{`local c = { text = "a" } file { "/a", content = c.txet }`, `a.lua:1:49: file#/a: content is nil (c.txet) (did you mean "text"?)`},
		{`local c = { web = { port = 1 } } file { "/a", content = c.web.prot }`, `a.lua:1:57: file#/a: content is nil (c.web.prot) (did you mean "port"?)`},
		{`local c file { "/a", content = c }`, "a.lua:1:32: file#/a: content is nil (c) (if nil is intended, use ccm.optional(c))"},
		{`local c = {} file.defaults { mode = c.mode }`, "a.lua:1:37: file.defaults: mode is nil (c.mode) (if nil is intended, use ccm.optional(c.mode))"},
		{`local c = {} file { "/a", content = ccm.optional(c.text) } file { "/b", content = c.text or nil, mode = nil }`, ""},
		{`local c = {} c.text = "x" file { "/a", content = c.text }`, ""},
		{`local c = {} local function f() file { "/a", content = c.text } end function c.text() end f()`, ""},
		{`local c = {} print(c) file { "/a", content = c.text }`, ""},
		{`local c = { w = {} } print(c.w) file { "/a", content = c.w.x }`, ""},
		{`local c = { w = {} } c.w.x = "y" file { "/a", content = c.w.x }`, ""},
		{`local c = { [arg[1]] = "x" } file { "/a", content = c.x }`, ""},
		{`local c = {} c[arg[1]] = "x" file { "/a", content = c.x }`, ""},
		{`local c c = "x" file { "/a", content = c }`, ""},
		{`local c local function f() c = "x" end f() file { "/a", content = c }`, ""},
		{`local p = {} file("/a", p)`, ""},
		{`file { "/a", [1 + 1] = 2, onwer = print }`, `a.lua:1:27: file#/a: unknown property "onwer" (did you mean "owner"?)`},
		{`file { name = "/a", force = 1 }`, `a.lua:1:29: file#/a: force: expected true or false, got the number 1`},
		{`exec { "x", creates = "/y", returns = { 0, "one" } }`, `a.lua:1:44: exec#x: returns[2]: expected an integer, got "one"`},
		{`exec { "x", creates = "/y", health_checks = { { comand = "z" } } }`, "a.lua:1:49: exec#x: health_checks[1]: unknown property \"comand\" (did you mean \"command\"?)"},
		{`local function file() end file { mode = 1 }`, ""},
		// Guards.
		{`for _, c in ipairs { "a" } do exec { c } end`, "a.lua:1:31: exec: runs every time, because it has neither a guard nor refreshonly (set creates, removes, onlyif, unless, check, refreshonly or subscribe)"},
		{`exec { "a", refresh_only = true }`, ""},
		{`exec "a" { unless = "b" }`, ""},
		{`local p = {} exec("a", p) exec(p)`, ""},
		{`exec.defaults { onlyif = "x" } exec "a"`, ""},
		// References.
		{`file { "/a", require = "exce#x" }`, `a.lua:1:24: file#/a: require: unknown resource type "exce" (did you mean "exec"?)`},
		{`file { "/a", require = { "exec#x", "mytype#y" } }`, ""},
		{`file { "/a", subscribe = "exec#x" }`, `a.lua:1:26: file#/a: subscribe: a file cannot be refreshed; this only sets the order, like require (use require)`},
		{`local x = exec { "x", creates = "/x" } file { "/a", subscribe = x }`, `a.lua:1:65: file#/a: subscribe: a file cannot be refreshed; this only sets the order, like require (use require)`},
		{`file { "/a", notify = { "exec#x", "file#/b" } }`, `a.lua:1:35: file#/a: notify: a file cannot be refreshed; this only sets the order, like before (use before)`},
		{`return template.jet("port {{ port }}", { port = 80 })`, `a.lua:1:21: the template contains {{ but no [[, so nothing in it would be rendered (use [[ ]], or set the delimiters to {{ and }}; to keep {{ literally, set them to [[ and ]])`},
		{`return template.jet("port {{ port }}", { port = 80 }, { left = "{{", right = "}}" })`, ""},
		// Fields.
		{`return str.trmi("x")`, `a.lua:1:8: str: unknown name "trmi" (did you mean "trim"?)`},
		{`return facts.role, facts.os`, ""},
		{`return facts.os.release.major, facts.os.release.minor`, ""},
		{`return facts.os.release.patch`, `a.lua:1:8: facts.os.release is not a table: no such field "patch"`},
		{`return facts.hostname.short`, `a.lua:1:8: facts.hostname is not a table: no such field "short"`},
		{`return facts.os.releas`, `a.lua:1:8: no fact "releas" in facts.os (did you mean "release"?)`},
		{`return facts.os.release_major, facts.os.release:match("x"), facts.mounts["/"].device, facts.os.ours, facts.role.name`, ""},
		{`local facts = { os = { release = {} } } return facts.os.release.major`, ""},
		{`local str = {} return str.anything`, ""},
		// Comments.
		{"local a = 1 -- ccm: ignore", ""},
		{"local a = 1 -- ccm: ignore unused, escape", ""},
		{"local a = 1 -- ccm: ignore escape", `a.lua:1:7: local variable "a" is never used (remove it, or call it _a)`},
		{"---@meta\nlocal a = 1", ""},
		{"return +", "a.lua:1:8: expected a value, got +"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := ""
			for _, f := range l.Check("a.lua", c.text) {
				if got != "" {
					got += "\n"
				}
				require.Contains(t, lint.Rules, f.Rule)
				got += f.Error.Error()
			}
			require.Equal(t, c.want, got)
		})
	}
}

// Lint ends for any text.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"file { 'x', mode = 1 }", "local a = '\\x' for", "\"", "exec 'a' 'b' {}", "#!\nlocal x"} {
		f.Add(seed)
	}
	reg, err := resource.NewRegistry(posix.Providers()...)
	require.NoError(f, err)
	l := &lint.Linter{Registry: reg, Libraries: std.Libraries()}
	f.Fuzz(func(_ *testing.T, text string) { l.Check("a.lua", text) })
}
