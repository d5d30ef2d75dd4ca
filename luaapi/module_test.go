package luaapi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
)

func TestModules(t *testing.T) {
	s := newSite(t, map[string]string{
		"site.lua": `
local a, b, c, d = require "a", require "b", require "c", require "d.e"
assert(require "a" == a and package.loaded.a == a)
assert(a.name == "a" and a.file == nil and b.where == "lib/b/init.lua" and c.where == "c.lua" and d.where == "d/e/init.lua")
assert(require "f" == true and require "g" == "g")
assert(require("extra").where == "more/extra.lua")
assert(package.path == "./lib/?.lua;./lib/?/init.lua;./?.lua;./?/init.lua;./vendor/?.lua;./vendor/?/init.lua;./vendor/share/lua/5.1/?.lua;./vendor/share/lua/5.1/?/init.lua;more/lib/?.lua;more/lib/?/init.lua;more/?.lua;more/?/init.lua", package.path)
assert(package.searchpath("c", package.path) == "./c.lua")
package.path = "elsewhere/?.lua"
assert(require("h").where == "elsewhere/h.lua")
package.loaded.a = nil
assert(not pcall(require, "a"))
assert(require("std.str").trim(" x ") == "x")
table.insert(package.loaders, 1, function(name) if name == "made" then return function() return { made = true } end end end)
assert(require("made").made)
a.declare("/from/site")
file "/site"
`,
		"lib/a.lua": `
local name = ...
file.defaults { owner = "module" }
file { "/a", content = "a", source = nil }
return { name = name, declare = function(path) file { path, content = "x" } end }
`,
		"lib/b/init.lua":  `return { where = "lib/b/init.lua" }`,
		"lib/b.txt":       `no`,
		"c.lua":           `return { where = "c.lua" }`,
		"c/init.lua":      `error("the file comes first")`,
		"d/e/init.lua":    `return { where = "d/e/init.lua" }`,
		"f.lua":           ``,
		"g.lua":           `package.loaded[...] = "g"`,
		"more/extra.lua":  `return { where = "more/extra.lua" }`,
		"elsewhere/h.lua": `return { where = "elsewhere/h.lua" }`,
	}, func(o *luaapi.Options) {
		o.Path = []string{"more"}
		o.Library = fstest.MapFS{"std/str.lua": {Data: []byte(`return { trim = function(s) return (s:match("^%s*(.-)%s*$")) end }`)}}
	})
	require.Empty(t, s.run())

	// Defaults apply only in the file that sets them.
	owners := make(map[string]string)
	for _, r := range s.b.Resources() {
		owners[r.ID.Name] = r.Spec.(*fileProps).Owner
		require.Equal(t, filepath.Dir(filepath.Join(s.dir, r.Pos.File)), r.Spec.(*fileProps).dir)
	}
	require.Equal(t, map[string]string{"/a": "module", "/from/site": "module", "/site": ""}, owners)

	// A resource declared in a module has the calls that led there.
	calls := make(map[string]string)
	for _, r := range s.b.Resources() {
		calls[r.ID.Name] = fmt.Sprint(r.Pos, r.Calls)
	}
	require.Equal(t, map[string]string{
		"/a":         "lib/a.lua:4 [{site.lua:2 called from here}]",
		"/from/site": "lib/a.lua:5 [{site.lua:16 called from here}]",
		"/site":      "site.lua:17 []",
	}, calls)
}

func TestModuleMistakes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"not there", map[string]string{"site.lua": `require "ngnix"`, "lib/nginx.lua": ""}, `site.lua:1:1: module 'ngnix' not found:
	no field package.preload['ngnix']
	no file './lib/ngnix.lua'
	no file './lib/ngnix/init.lua'
	no file './ngnix.lua'
	no file './ngnix/init.lua'
	no file './vendor/ngnix.lua'
	no file './vendor/ngnix/init.lua'
	no file './vendor/share/lua/5.1/ngnix.lua'
	no file './vendor/share/lua/5.1/ngnix/init.lua' (did you mean "nginx"?)
  1 | require "ngnix"
    | ^^^^^^^
`},
		{"not there, in a directory", map[string]string{"site.lua": `require "web.ngnix"`, "web/nginx/init.lua": ""}, `site.lua:1:1: module 'web.ngnix' not found:
	no field package.preload['web.ngnix']
	no file './lib/web/ngnix.lua'
	no file './lib/web/ngnix/init.lua'
	no file './web/ngnix.lua'
	no file './web/ngnix/init.lua'
	no file './vendor/web/ngnix.lua'
	no file './vendor/web/ngnix/init.lua'
	no file './vendor/share/lua/5.1/web/ngnix.lua'
	no file './vendor/share/lua/5.1/web/ngnix/init.lua' (did you mean "web.nginx"?)
  1 | require "web.ngnix"
    | ^^^^^^^
`},
		{"nothing like it", map[string]string{"site.lua": `require "web.vhost"`}, `site.lua:1:1: module 'web.vhost' not found:
	no field package.preload['web.vhost']
	no file './lib/web/vhost.lua'
	no file './lib/web/vhost/init.lua'
	no file './web/vhost.lua'
	no file './web/vhost/init.lua'
	no file './vendor/web/vhost.lua'
	no file './vendor/web/vhost/init.lua'
	no file './vendor/share/lua/5.1/web/vhost.lua'
	no file './vendor/share/lua/5.1/web/vhost/init.lua' (put a module of the site into lib/web/vhost.lua beside the script; add a third-party module with ccm mod get ADDRESS)
  1 | require "web.vhost"
    | ^^^^^^^
`},
		{"syntax", map[string]string{"site.lua": `local a = require "a"`, "a.lua": "\nlocal x = = 5"}, `a.lua:2:11: expected a value, got =
  2 | local x = = 5
    |           ^
  site.lua:1: called from here
`},
		{"cycle", map[string]string{
			"site.lua": `require "a"`, "a.lua": `require "b"`, "b.lua": `local x = require "c"`, "c.lua": `return require("b")`,
		}, `c.lua:1:8: import cycle: b -> c -> b
  1 | return require("b")
    |        ^^^^^^^
  b.lua:1: called from here
  a.lua:1: called from here
  site.lua:1: called from here
`},
		{"error", map[string]string{"site.lua": "\nrequire 'a'", "a.lua": "local t = {}\nprint(t.x.y)"}, `a.lua:2:7: t.x.y: 'x' is nil
  2 | print(t.x.y)
    |       ^^^^^
  site.lua:2: called from here
`},
		{"global", map[string]string{"site.lua": "require 'a'\nprint(helper())", "a.lua": "function helper() return 5 end"}, `a.lua:1:10: assignment to undefined global "helper" (declare it with local function helper)
  1 | function helper() return 5 end
    |          ^^^^^^
  site.lua:1: called from here
`},
		{"declaration", map[string]string{
			"site.lua": "local web = require 'web'\nfor _, n in ipairs { 'a', 'b' } do\n  web.vhost(n)\nend",
			"web.lua":  "local M = {}\nlocal function conf(name)\n  return file { '/' .. name, mdoe = 1 }\nend\nfunction M.vhost(name)\n  conf(name)\nend\nreturn M",
		}, `web.lua:3:30: file#/a: unknown property "mdoe" (did you mean "mode"?)
  3 |   return file { '/' .. name, mdoe = 1 }
    |                              ^^^^
  web.lua:6: called from here
  site.lua:3: called from here
web.lua:3:30: file#/b: unknown property "mdoe" (did you mean "mode"?)
  3 |   return file { '/' .. name, mdoe = 1 }
    |                              ^^^^
  web.lua:6: called from here
  site.lua:3: called from here
`},
		{"optional", map[string]string{
			"site.lua": "local ok, err = pcall(require, 'a')\nprint(ok, err)\nprint(pcall(require, 'a'))", "a.lua": "x =",
		}, ""},
		{"path is no text", map[string]string{"site.lua": "package.path = nil\nrequire 'a'"}, `site.lua:2:1: package.path must be a string
  2 | require 'a'
    | ^^^^^^^
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.files, nil)
			require.Equal(t, tt.want, s.run())
			if tt.name == "optional" {
				line := "false\ta.lua:1:4: expected a value, got the end of the text\n"
				require.Equal(t, line+line, s.out.String())
			}
		})
	}
}

func TestModulesAreFoundBesideTheScript(t *testing.T) {
	s := newSite(t, map[string]string{
		"sites/web/site.lua":    `assert(require("web").here); file "/x"; print(arg[0])`,
		"sites/web/lib/web.lua": `file "/y"; return { here = true }`,
		"lib/web.lua":           `error("this is not beside the script")`,
	}, nil)
	text, err := os.ReadFile("sites/web/site.lua")
	require.NoError(t, err)
	require.Empty(t, rendered(s.in, s.in.Run(context.Background(), "sites/web/site.lua", string(text))))
	require.Equal(t, "sites/web/lib/web.lua:1", s.b.Resources()[0].Pos.String())
	require.Equal(t, filepath.Join(s.dir, "sites/web/lib"), s.b.Resources()[0].Spec.(*fileProps).dir)
	require.Equal(t, filepath.Join(s.dir, "sites/web"), s.b.Resources()[1].Spec.(*fileProps).dir)
	require.Equal(t, "sites/web/site.lua\n", s.out.String())
}

// Modules of others may ask for globals that scripts do not have, and define globals for themselves.
func TestModulesOfOthers(t *testing.T) {
	s := newSite(t, map[string]string{
		"site.lua": `local m = require "m"
print(m.bits, m.class, m.helper, m.other, m.loaded, m.env)
print(rawget(_G, "helper"), rawget(_G, "other"), io)
print(pcall(function() return helper end))`,
		"vendor/m.lua": `local bits = _G.bit32 and 1 or 2
local class = class_commons ~= false and not common_class
if love then love.load() end
function helper() return counter end
counter = 5
_G.other = _G.counter + 1
local function declared() return value end
setfenv(declared, { value = "own" })
assert(getfenv(declared).value == "own" and getfenv().counter == 5 and collectgarbage() == 0)
io.write("from ", "io\n")
assert(io.type(io.stdout) == "file" and io.type({}) == nil and not io.open("/x"))
return { bits = bits, class = class, helper = helper(), other = other, loaded = load("return helper(), zzz")(), env = declared() }`,
	}, nil)
	require.Empty(t, s.run())
	require.Equal(t, `from io
2	true	5	6	5	own
nil	nil	nil
false	site.lua:4:31: undefined global "helper"
`, s.out.String())
}

// The modules of others share one table of globals, which is their _G, and the site does not see it.
func TestGlobalsOfOthers(t *testing.T) {
	s := newSite(t, map[string]string{
		"site.lua": `require "names"
local m = require "m"
print(m.greet(), m.environment, m.strict)
print(pcall(function() return hello end))
print(string.dump, getmetatable(_G), pcall(m.write, _G))`,
		"vendor/names.lua": `function hello() return "hello" end`,
		"vendor/m.lua": `local m = {}
function m.greet() return hello() .. " " .. _G.hello() .. " " .. rawget(_G, "hello")() end
function m.write(t) t.later = 1 return later end
local outer = setmetatable({}, { __index = _G })
local function level2() return getfenv(2) == outer, getfenv(0) == _G, getfenv(print) == _G end
local function within() setfenv(1, outer) local a, b, c = level2() return a, b, c end
m.environment = table.concat({ tostring(within()), tostring(select(2, within())), tostring(select(3, within())) }, " ")
local names = 0
for name in pairs(_G) do if name == "io" or name == "hello" or name == "print" or name == "getfenv" then names = names + 1 end end
assert(names == 4 and _G._G == _G and getmetatable(_G) == nil)
assert(require "os" == os and require "debug" == debug and require "io" == io and require "_G" == _G)
setmetatable(_G, { __newindex = function(t, name, v)
  assert(debug.getinfo(2, "S").what == "main", name)
  rawset(t, name, v)
end })
declared = true
m.strict = not pcall(function() undeclared = true end) and pcall(function() declared = false end)
setmetatable(_G, nil)
return m`,
	}, nil)
	require.Empty(t, s.run())
	require.Equal(t, `hello hello hello	true true true	true
false	site.lua:4:31: undefined global "hello"
nil	false	true	1
`, s.out.String())
}

// What only the code of others has, as Lua has it.
func TestFunctionsForOthers(t *testing.T) {
	s := newSite(t, map[string]string{
		"site.lua": `require "m"`,
		"vendor/m.lua": `
assert(tostring(io.stdin):match("^file %(0x%x+%)$") and io.input() == io.stdin and io.output() == io.stdout)
assert(io.read() == nil and io.stdin:read("*a") == nil and not pcall(io.lines, "/x") and not pcall(io.input, "/x"))
for line in io.stdin:lines() do error(line) end
assert(select("#", debug.gethook()) == 0 and select("#", debug.sethook()) == 0)
assert(os.getenv("NONE") == nil and os.getenv("HOME") == "/home/me")
assert(os.setlocale() == "C" and os.setlocale("C") == "C" and os.setlocale("de_DE") == nil)
assert(getmetatable(newproxy(true)) and not getmetatable(newproxy()))
local p = newproxy(true)
assert(getmetatable(newproxy(p)) == getmetatable(p))

local saved = getmetatable("")
debug.setmetatable("", nil)
local ok = pcall(function() return ("x"):upper() end)
debug.setmetatable("", saved)
assert(not ok and ("x"):upper() == "X")

local hidden = setmetatable({}, { __metatable = "hidden", __index = { 1 } })
assert(getmetatable(hidden) == "hidden" and debug.getmetatable(hidden).__index[1] == 1)
assert(debug.getmetatable(env) == false)

local up = 1
local function f(a) return a, up end
local text = string.dump(f)
assert(text:sub(1, 4) == "\27Lua" and text == string.dump(f) and select(2, load(text)(7)) == nil and load(text)(7) == 7)
assert(not pcall(string.dump, print) and load("\27Lua ccm 99") == nil and f(2) == 2)

local ks, vs, all = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "kv" })
local kept = {}
ks[kept], ks[{}], ks.text, ks[1] = 1, 2, {}, {}
vs[1], vs[2], vs.kept, vs.text = {}, kept, kept, "text"
all[kept], all[{}], all.x = kept, 1, {}
for i = 1, 2 do collectgarbage(i == 2 and "collect" or nil) end
local function count(t) local n = 0 for _ in pairs(t) do n = n + 1 end return n end
assert(count(ks) == 3 and ks[kept] == 1 and ks.text and ks[1], count(ks))
assert(count(vs) == 3 and vs[1] == nil and vs[2] == kept and vs.kept == kept and vs.text == "text", count(vs))
assert(count(all) == 1 and all[kept] == kept, count(all))
ks.more = true
assert(count(ks) == 4 and getmetatable(ks).__mode == "k")

local twice = setmetatable({}, { __unm = function(a, b) return rawequal(a, b) and "minus" or "once" end })
local function minus(x) return -x end
assert(minus(twice) == "minus" and -twice == "minus" and minus(3) == -3 and minus("4") == -4)
local ok, err = pcall(function() local x = {} return -x end)
assert(err == "vendor/m.lua:44: attempt to perform arithmetic on local 'x' (a table value)", err)
`,
	}, func(o *luaapi.Options) {
		o.Env = func(name string) (string, bool) { return "/home/me", name == "HOME" }
	})
	require.Empty(t, s.run())
}

// Modules of others write numbers and messages of assert as Lua 5.1 does, and the site as ccm does. Whole numbers have all
// digits in both.
func TestTextsOfOthers(t *testing.T) {
	s := newSite(t, map[string]string{
		"site.lua": `local m = require "m"
print(m.third, m.throw(), 1/3, 2^53, 1/0 .. "", pcall(function() assert(false, "plain") end))
m.say(1/3)`,
		"vendor/m.lua": `local m, x = {}, 1/3
m.third = x .. ""
local want = "0.33333333333333"
assert(m.third == want and tostring(x) == want and ("%s"):format(x) == want and table.concat { x } == want)
assert(("a"):gsub("a", x) == want and ("a"):gsub("a", function() return x end) == want and load("return '' .. 1/3")() == want)
assert(tostring(0.1 + 0.2) == "0.3" and tostring(1.5e300) == "1.5e+300" and tostring(1e-7) == "1e-07" and "" .. -x == "-" .. want)
assert(tostring(1/0) == "inf" and -1/0 .. "" == "-inf" and tostring(0/0):match("^-?nan$"))
assert(2^53 .. "" == "9007199254740992" and tostring(-123456789012345) == "-123456789012345" and 7 .. "" == "7")
function m.throw() return select(2, pcall(function() assert(nil, "message") end)) end
function m.say(...) print(...) io.write(..., "\n") end
local object = {}
assert(select(2, pcall(function() assert(nil, object) end)) == object)
assert(select(2, pcall(assert, nil, "bare")):match("bare$"))
local thread = coroutine.wrap(loadstring("coroutine.yield(1) return 2", ""))
assert(thread() == 1 and thread() == 2) -- a text without a name can yield too
return m`,
	}, nil)
	require.Empty(t, s.run())
	require.Equal(t, `0.33333333333333	vendor/m.lua:9: message	0.3333333333333333	9007199254740992	+Inf	false	plain
0.33333333333333
0.33333333333333
`, s.out.String())
}

// Outside of modules of others, what Lua has and scripts have not is nil, and to use it is a mistake.
func TestAbsentGlobals(t *testing.T) {
	for text, want := range map[string]string{
		`print(bit32, utf8 and 1, type(setfenv), jit == nil)`: "",
		"local io = io\nio.write(1)":                          "site.lua:2:1: io.write: 'io' is nil (scripts only declare: write a file with file { ... })",
		`jit.on()`:                                            `site.lua:1:1: undefined global "jit" (this is not LuaJIT)`,
		`setfenv(1, {})`:                                      `site.lua:1:1: undefined global "setfenv" (all functions of a script share its globals)`,
	} {
		s := newSite(t, map[string]string{"site.lua": text}, nil)
		first, _, _ := strings.Cut(s.run(), "\n")
		require.Equal(t, want, first, text)
	}
}

// packageOf is a [luaapi.Packages] with one package of one file.
type packageOf struct {
	owner *luaapi.Package
	text  string
}

func (p packageOf) Find(_ *luaapi.Package, name string) (*luaapi.PackageFile, error) {
	if name != p.owner.Name {
		return nil, nil
	}
	return &luaapi.PackageFile{Owner: p.owner, Path: "p.lua", Key: "\x00p", File: "p.lua", ShownPath: "p@v1/p.lua"}, nil
}

func (p packageOf) Read(*luaapi.PackageFile) ([]byte, error) { return []byte(p.text), nil }

// TestStd: std.NAME is what require "std.NAME" returns, and is loaded when it is used.
func TestStd(t *testing.T) {
	library := func(o *luaapi.Options) {
		o.Library = fstest.MapFS{
			"std/line.lua":  {Data: []byte("print 'loads line'\nlocal made = std.parts\nlocal text = [[\nreturn ccm.type]]\nreturn made\n")},
			"std/kv.lua":    {Data: []byte("error 'kv is not used'\nreturn ccm.type {}")},
			"std/parts.lua": {Data: []byte("print 'loads parts'\nreturn { name = 'parts' }")},
		}
	}
	for _, x := range []struct{ text, want, out string }{
		{`print(std.line.name, std.line == require "std.line", require "std" == std)`, "", "loads line\nloads parts\nparts\ttrue\ttrue\n"},
		{`print(coroutine.wrap(function() return std.line.name end)())`, "", "loads line\nloads parts\nparts\n"},
		{`local std = { line = "mine" } print(std.line)`, "", "mine\n"},
		{`local std = require "own" print(std.line)`, "", "own\n"},
		{`print(type(std))`, "", "table\n"},
		{`print(std.lnie)`, `site.lua:1:7: std: unknown name "lnie" (did you mean "line"?)`, ""},
		{`print(std[1])`, `site.lua:1:7: std: unknown name "1"`, ""},
		{`std.line = 1`, `site.lua:1:1: std.line is read-only (copy the table and change the copy)`, ""},
		{`std = 1`, `site.lua:1:1: "std" is a global of ccm and cannot be replaced (declare a variable with local std)`, ""},
		{`line { "/a" }`, `site.lua:1:1: undefined global "line" (use std.line)`, ""},
		{`parts { "/a" }`, `site.lua:1:1: undefined global "parts" (did you mean "pairs"?)`, ""},
		{`file { "/a", ensure = line }`, `site.lua:1:23: undefined global "line" (a text needs quotes: "line")`, ""},
		{`file { "/a", ensure = absent }`, `site.lua:1:23: undefined global "absent" (a text needs quotes: "absent")`, ""},
		{`local target = "a" file { "/a", ensure = targt }`, `site.lua:1:42: undefined global "targt" (did you mean "target"?)`, ""},
		{`for name in pairs(std) do print(name) end`, `site.lua:1:13: std cannot be listed: use one module, such as std.line`, ""},
		{`print(std.kv)`, `stdlib/std/kv.lua:1:1: kv is not used`, ""},
	} {
		s := newSite(t, map[string]string{"site.lua": x.text, "lib/own.lua": `return { line = "own" }`}, library)
		first, _, _ := strings.Cut(s.run(), "\n")
		require.Equal(t, x.want, first, x.text)
		require.Equal(t, x.out, s.out.String(), x.text)
	}

	// A site's own modules of these names are found first, as by require.
	s := newSite(t, map[string]string{
		"site.lua":         `print(require("std").name, std.line.name)`,
		"lib/std/init.lua": `return { name = "own std" }`, "lib/std/line.lua": `return { name = "own line" }`,
	}, library)
	require.Empty(t, s.run())
	require.Equal(t, "own std\town line\n", s.out.String())
}

// TestStdOfPackage: what is denied to a package is denied to it in std as well.
func TestStdOfPackage(t *testing.T) {
	s := newSite(t, map[string]string{"site.lua": `print(std.exec.name) require "p"`}, func(o *luaapi.Options) {
		o.Library = fstest.MapFS{"std/exec.lua": {Data: []byte(`return { name = "exec" }`)}, "std/line.lua": {Data: []byte(`return { name = "line" }`)}}
		o.Packages = packageOf{
			owner: &luaapi.Package{Name: "p", Denial: func(global string) error {
				if global == "exec" {
					return errors.New("exec is denied")
				}
				return nil
			}},
			text: `print(std.line.name, require "std" == std) print(pcall(function() return std.exec end))`,
		}
	})
	require.Empty(t, s.run())
	require.Equal(t, "exec\nline\ttrue\nfalse\tp@v1/p.lua:1:74: exec is denied\n", s.out.String())
}

// A package gets no globals that are denied to it by the functions of others.
func TestPackageAndFunctionsOfOthers(t *testing.T) {
	s := newSite(t, map[string]string{
		"site.lua": `local p = require "p"
local function f() return print end
local function g() end
local env = p.own()
print(pcall(p.try, f), p.reads(env))
print(p.try(f, g))`,
	}, func(o *luaapi.Options) {
		o.Packages = packageOf{
			owner: &luaapi.Package{Name: "p", Denial: func(global string) error {
				if global == "file" {
					return errors.New("file is denied")
				}
				return nil
			}},
			text: `local p = {}
function p.own() return getfenv(1) end
function p.reads(env) return (pcall(function() return env.file end)) end
function p.try(f, g)
  local out = {}
  local function note(ok, v) out[#out + 1] = ok and type(v) or v:match("[^:]*$") end
  note(pcall(getfenv, f)) note(pcall(setfenv, f, {})) note(pcall(string.dump, f))
  note(pcall(getfenv, g)) note(pcall(getfenv, 4))
  out[#out + 1] = tostring(debug.getinfo(2).func)
  out[#out + 1] = tostring(pcall(function() return getfenv(0).file end))
  out[#out + 1] = type(getfenv(p.own)) .. " " .. type(load(string.dump(p.own))())
  return table.concat(out, "\n")
end
return p`,
		}
	})
	require.Empty(t, s.run())
	require.Equal(t, "true\tfalse\n"+strings.Repeat(" bad argument #1 to '?' (the function belongs to another module)\n", 4)+
		" bad argument #1 to '?' (invalid level)\nnil\nfalse\ntable table\n", s.out.String())
}
