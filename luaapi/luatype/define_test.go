package luatype_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMistakesInDefinitions: each mistake has its position in the table.
func TestMistakesInDefinitions(t *testing.T) {
	const functions = `status = function() return {} end, perform = function() end`
	for _, tt := range []struct{ text, want string }{
		{`ccm.type "line"`, `site.lua:1:1: ccm.type: expected a table such as { name = ..., properties = { ... }, status = ..., perform = ... }, got "line"`},
		{`ccm.type { nmae = "x" }`, `site.lua:1:12: ccm.type: unknown field "nmae" (did you mean "name"?)`},
		{`ccm.type { name = "My Type", ` + functions + ` }`, `site.lua:1:19: ccm.type: name: expected a lower-case word such as "line", got "My Type"`},
		{`ccm.type { name = "x", status = "s" }`, `site.lua:1:33: ccm.type: status: expected a function, got "s"`},
		{`ccm.type { name = "x", properties = {} }`, `site.lua:1:1: ccm.type: the functions status and perform are required (or define a function edit)`},
		{`ccm.type { name = "x", ` + functions + ` }`, `site.lua:1:1: ccm.type: properties: expected a table of properties, got nothing`},
		{`ccm.type { name = "x", properties = { path = {} }, ` + functions + ` }`, `site.lua:1:37: ccm.type: properties: no property is the name of the resource (mark the property that holds the name with name = true)`},
		{`ccm.type { name = "x", properties = { path = { naem = true } }, ` + functions + ` }`, `site.lua:1:48: ccm.type: properties.path: unknown field "naem" (did you mean "name"?)`},
		{`ccm.type { name = "x", properties = { path = { name = 1 } }, ` + functions + ` }`, `site.lua:1:55: ccm.type: properties.path.name: expected true or false, got the number 1`},
		{`ccm.type { name = "x", properties = { path = { type = "strin" } }, ` + functions + ` }`, `site.lua:1:55: ccm.type: properties.path.type: expected one of string, integer, number, boolean, path, mode, mode_change, regexp, list, map, table, any, got "strin" (did you mean "string"?)`},
		{`ccm.type { name = "x", properties = { path = { name = true, type = "integer" } }, ` + functions + ` }`, `site.lua:1:37: ccm.type: properties: path: must be a string, because it names the resource`},
		{`ccm.type { name = "x", properties = { path = { name = true }, n = { type = "integer", default = "x" } }, ` + functions + ` }`, `site.lua:1:37: ccm.type: properties: n: default: expected an integer, got "x"`},
		{`ccm.type { name = "x", properties = { path = { name = true }, n = { enum = { "a", "b" }, default = "c" } }, ` + functions + ` }`, `site.lua:1:37: ccm.type: properties: n: default: expected one of a, b, got "c"`},
		{`ccm.type { name = "x", properties = { path = { name = true }, n = { set = true } }, ` + functions + ` }`, `site.lua:1:75: ccm.type: properties.n.set: only a list can be a set, this is a string`},
		{`ccm.type { name = "x", properties = { path = { name = true }, require = {} }, ` + functions + ` }`, `site.lua:1:1: type x: every type has a property require`},
		{`ccm.type { name = "x", properties = { a = { name = true }, b = { name = true } }, ` + functions + ` }`, `site.lua:1:37: ccm.type: properties: b: a is already the property that names the resource`},
		{`ccm.type { name = "x", properties = { a = { name = true, alias = "b" }, b = {} }, ` + functions + ` }`, `site.lua:1:37: ccm.type: properties: b: name b is already used by property a`},
		{`ccm.type { name = "x", properties = { a = { name = true } }, phrases = { create = "creates it" }, ` + functions + ` }`, `site.lua:1:83: ccm.type: phrases.create: expected a phrase that follows "Would have", such as "created the user", got "creates it"`},
		{`ccm.type { name = "x", properties = { a = { name = true } }, edit = function() end }`, `site.lua:1:62: ccm.type: edit: a type with edit requires the property path (add path = { type = "path" })`},
		{`ccm.type { name = "x", properties = { a = { name = true } }, edit = function() end, ` + functions + ` }`, `site.lua:1:62: ccm.type: edit: a type with edit cannot define status, decide, perform, refresh, leaves, programs or recreate`},
	} {
		s := newSite(t, nil)
		got, _, _ := strings.Cut(s.eval(tt.text), "\n")
		require.Equal(t, tt.want, got, tt.text)
	}
}

func TestTypeDefinedTwice(t *testing.T) {
	s := newSite(t, map[string]string{"std/motd.lua": motd, "other.lua": motd})
	got := s.eval(`local a = require "std.motd"
assert(a == require "std.motd")
require "other"`)
	require.Contains(t, got, "stdlib/other.lua:2:8: type motd already exists (defined at stdlib/std/motd.lua:2:8)\n")
	require.Contains(t, got, "  site.lua:3: called from here\n")
}

// TestProperties: a type of a script decodes properties like a built-in type.
func TestProperties(t *testing.T) {
	library := map[string]string{"std/thing.lua": `
return ccm.type {
  name = "thing", doc = "A thing.",
  properties = {
    name   = { name = true },
    count  = { type = "integer", alias = "number_of" },
    ratio  = { type = "number" },
    force  = { type = "boolean", default = false },
    color  = { enum = { "red", "green" }, default = "red" },
    mode   = { type = "mode" },
    where  = { type = "path" },
    words  = { type = "list", one_line = true },
    title  = { one_line = true },
    labels = { type = "map", one_line = true },
    sizes  = { type = "list", items = "integer" },
    env    = { type = "map" },
    limits = { properties = { cpu = { type = "number", required = true }, mem = { type = "integer" } } },
    rules  = { type = "list", items = { port = { type = "integer", required = true } } },
    data   = { type = "any" },
    source = { type = "path", relative = true },
    match  = { type = "regexp" },
    users  = { type = "list", kind = "owner" },
  },
  validate = function(want)
    if want.count == 13 then return "count", "13 is unlucky" end
    if want.ratio == 2 then return "two is too much" end
  end,
  status = function(want)
    local seen = {}
    for k, v in pairs(want) do seen[#seen + 1] = k .. "=" .. type(v) end
    table.sort(seen)
    print(table.concat(seen, " "))
    if want.limits then print(want.limits.cpu, want.limits.mem, want.sizes[2], want.env.A, want.rules[1].port, want.mode, want.source) end
    return {}
  end,
  perform = function() end,
}`}
	for _, tt := range []struct{ text, at, want string }{
		{`number_of = "x"`, `"x"`, `number_of: expected an integer, got "x"`},
		{`conut = 1`, `conut`, `unknown property "conut" (did you mean "count"?)`},
		{`color = "rde"`, `"rde"`, `color: expected one of red, green, got "rde" (did you mean "red"?)`},
		{`mode = 644`, `644`, `mode: expected a string, got the number 644 (quote it: "0644")`},
		{`mode = "rw"`, `"rw"`, `mode: expected octal permissions such as "0644", got "rw"`},
		{`where = "x/y"`, `"x/y"`, `where: expected an absolute path, got "x/y"`},
		{`where = "/x/../y"`, `"/x`, `where: expected a path without . or .. or doubled slashes such as /y, got "/x/../y"`},
		{`sizes = { 1, "x" }`, `"x"`, `sizes[2]: expected an integer, got "x"`},
		{`limits = { mem = 1 }`, `{ mem`, `limits: cpu is required`},
		{`rules = { { port = "http" } }`, `"http"`, `rules[1].port: expected an integer, got "http"`},
		{`force = "yes"`, `"yes"`, `force: expected true or false, got "yes"`},
		{`provider = "posix"`, `"posix"`, `provider: expected one of lua, got "posix"`},
		{`title = "a\nb"`, `"a\nb"`, `title: expected one line, got "a\nb"`},
		{`title = "a\0b"`, `"a\0b"`, `title: expected one line, got "a\x00b"`},
		{`words = { "a", "a\rb" }`, `{ "a", "a`, `words: expected one line, got "a\rb"`},
		{`labels = { a = "b", ["c\nd"] = "e" }`, `{ a =`, `labels: expected one line, got "c\nd"`},
		{`source = ""`, `""`, `source: expected a path, got an empty string`},
		{`match = ""`, `""`, `match: expected a regular expression (RE2), got an empty string`},
		{`users = { "a", "" }`, `{ "a", "" }`, `users: expected the name of a user, got an empty string`},
		{`count = 13`, `13`, `count: 13 is unlucky`},
		{`ratio = 2`, `require`, `two is too much`},
	} {
		s := newSite(t, library)
		text := fmt.Sprintf(`require "std.thing" { "a", %s }`, tt.text)
		got, _, _ := strings.Cut(s.eval(text), "\n")
		require.Equal(t, fmt.Sprintf("site.lua:1:%d: thing#a: %s", strings.Index(text, tt.at)+1, tt.want), got)
	}

	s := newSite(t, library)
	require.Contains(t, s.eval(`require "std.thing" { "a", source = "a\0b" }`), "thing#a: source: expected a path without NUL bytes, got")

	s = newSite(t, library)
	s.declare(`
require "std.thing" { "all", count = 1, ratio = 0.5, force = true, color = "green", mode = "644", where = "/x", words = "one",
  sizes = { 1, 2 }, env = { A = "1" }, limits = { cpu = 2 }, rules = { { port = 80 } }, data = { x = 1 }, source = "files/x" }
require "std.thing" { "none" }
`)
	s.run()
	lines := strings.Split(s.printed.String(), "\n")
	require.Equal(t, "color=string count=number data=table env=table force=boolean limits=table mode=string name=string ratio=number rules=table sizes=table source=string where=string words=table", lines[0])
	require.Regexp(t, `^2\tnil\t2\t1\t80\t0644\t/.*/luatype/files/x$`, lines[1])
	require.Equal(t, "color=string force=boolean name=string", lines[2])
}

func TestReference(t *testing.T) {
	s := newSite(t, map[string]string{"std/motd.lua": motd})
	s.declare(`require "std.motd"`)
	typ := s.reg.Type("motd")
	require.Equal(t, "Keeps the message of the day.", typ.Schema().Doc)
	require.Equal(t, []string{"path", "text", "mode", "ensure"}, typ.Schema().Names())
	js := typ.Properties().JSONSchema()
	props := js["properties"].(map[string]any)
	require.Equal(t, map[string]any{"type": "string", "enum": []string{"present", "absent"}, "default": "present", "x-ccm": map[string]any{"order": 4}}, props["ensure"])
	require.Equal(t, map[string]any{"type": "string", "pattern": "^/", "description": "The file.", "x-ccm": map[string]any{"kind": "path", "order": 1}}, props["path"])
	require.Equal(t, []string{"text"}, js["required"])
	require.Equal(t, []string{"lua"}, s.reg.ProviderNames(typ))
}
