package luatype_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// one returns a module with a type that has these functions.
func one(functions string) map[string]string {
	return map[string]string{"std/one.lua": `return ccm.type {
  name = "one",
  properties = {
    name = { name = true }, value = {}, list = { type = "list" }, set = { type = "list", set = true },
    token = { secret = true }, number = { type = "number" }, mode = { type = "mode" }, map = { type = "map" },
  },
` + functions + `
}`}
}

func TestLuaErrorsHaveTheirPlaces(t *testing.T) {
	const perform = `perform = function() end,`
	for _, tt := range []struct{ functions, want string }{
		{`status = function(want) return { value = want.vlaue } end,` + perform,
			`stdlib/std/one.lua:7:42: one: unknown property "vlaue" (did you mean "value"?)`},
		{`status = function(want, host) host.write("/x", "y") end,` + perform,
			`stdlib/std/one.lua:7:31: status cannot change the machine: call host.write in perform`},
		{`status = function(want, host) host.raed("/x") end,` + perform,
			`stdlib/std/one.lua:7:31: unknown function host.raed (did you mean "read"?)`},
		{`status = function(want, host) host:read("/x") end,` + perform,
			`stdlib/std/one.lua:7:31: host.read called with a colon (use host.read(...))`},
		{`status = function(want, host) return { value = host.read("x") } end,` + perform,
			`stdlib/std/one.lua:7:48: host.read: expected an absolute path, got "x"`},
		{`status = function(want, host) host.query { "sh", "-c", "echo no >&2; exit 3" } end,` + perform,
			`sh -c 'echo no >&2; exit 3': exit status 3: no`},
		{`status = function(want, host) host.query { "sh", chekc = false } end,` + perform,
			`stdlib/std/one.lua:7:31: host.query: unknown option "chekc" (did you mean "check"?)`},
		{`status = function() end,` + perform,
			`stdlib/std/one.lua:7: status of the type one: expected a table with the state found, got nothing`},
		{`status = function() return { value = print } end,` + perform,
			`stdlib/std/one.lua:7: status of the type one: value: expected plain data, got a function`},
		{`status = function() x = 1 return {} end,` + perform,
			`stdlib/std/one.lua:7:21: assignment to undefined global "x" (declare it with local x)`},
		{`status = function() error("no luck") end,` + perform,
			`stdlib/std/one.lua:7:21: no luck`},
		{`status = function() error({ message = "no luck" }) end,` + perform,
			`stdlib/std/one.lua:7:21: no luck`},
		{`status = function() ccm.fail("no luck") end,` + perform,
			`stdlib/std/one.lua:7:21: no luck`},
		{`status = function(want) local t = nil; return t.x end,` + perform,
			`stdlib/std/one.lua:7:47: t.x: 't' is nil`},
		{`status = function(want) require "std.one" { "y" } return {} end,` + perform,
			`stdlib/std/one.lua:7:25: one#y: resources cannot be declared during the run`},
		{`status = function(want) ccm.type { name = "t", properties = { n = { name = true } }, edit = nil, status = print, perform = print } end,` + perform,
			`stdlib/std/one.lua:7:25: resources cannot be declared during the run`},
		{`status = function(want) return { value = "b" } end, perform = function(a, b, c, host) host.write("/no/x", "") end,`,
			`/no does not exist (declare it earlier, as a directory)`},
		{`status = function(want) return { value = "b" } end, perform = function(a, b, c, host) host.mkdir("/x", { mdoe = "0700" }) end,`,
			`stdlib/std/one.lua:7:87: host.mkdir: unknown option "mdoe" (did you mean "mode"?)`},
		{`status = function(want) return { value = "b" } end, perform = function(a, b, c, host) host.chmod("/x", 644) end,`,
			`stdlib/std/one.lua:7:87: host.chmod: mode: expected a string such as "0644", got the number 644`},
		{`status = function(want) return {} end, decide = function() return { diff = { { "vlaue", "a", "b" } } } end,` + perform,
			`stdlib/std/one.lua:7: decide of the type one: diff[1]: expected a property, got "vlaue"`},
		{`status = function(want) return {} end, decide = function() return { actions = { { "fix", "fixes it" } } } end,` + perform,
			`stdlib/std/one.lua:7: decide of the type one: actions[1]: expected a verb and a phrase that follows "Would have", got "fix" and "fixes it"`},
		{`status = function(want) return {} end, decide = function() return { diff = { { "value", "a", "b" } } } end,` + perform,
			`stdlib/std/one.lua:7: decide of the type one: differences without an action: value: a → b`},
		{`status = function(want) return {} end, decide = function() return { action = {} } end,` + perform,
			`stdlib/std/one.lua:7: decide of the type one: expected diff, actions, text, error or uncertain, got "action"`},
		{`status = function(want) return {} end, decide = function() return { error = "it cannot be had" } end,` + perform,
			`it cannot be had`},
		{`status = function(want) error("nothing is there") end,` + perform,
			`stdlib/std/one.lua:7:25: nothing is there`},
		{`status = function(want) error("nothing is there", 0) end,` + perform,
			`nothing is there`},
		{`status = function(want) return { value = "b" } end, perform = function() error("it went wrong", 0) end,`,
			`it went wrong`},
	} {
		s := newSite(t, one(tt.functions))
		s.declare(`require "std.one" { "x", value = "a" }`)
		got, _, _ := strings.Cut(s.run(), "\n")
		require.Equal(t, "x one#x: failed: "+tt.want+" (site.lua:1)", got, tt.functions)
	}
}

// TestDeadlines: an endless function fails its resource, but not the run.
func TestDeadlines(t *testing.T) {
	for _, limit := range []string{"1ns", "50ms"} { // 1ns is over before the function is called
		s := newSite(t, one(`status = function(want)
  if want.value == "loop" then while true do end end
  return {}
end, perform = function() end,`))
		s.declare(`local one = require "std.one"
one { "x", value = "loop", timeout = "` + limit + `" }
one { "y" }`)
		require.Regexp(t, `^x one#x: failed: stdlib/std/one.lua:8(:6)?: timed out after `+limit+` \(site.lua:2\)
= one#y: up to date
$`, s.run())
	}
}

// TestCommandsAreCancelled: the cause of a cancelled run ends a command, and the error names it. On a busy machine a
// short time may be over before the command is started.
func TestCommandsAreCancelled(t *testing.T) {
	var got string
	for _, limit := range []string{"50ms", "1s", "20s", "2m"} {
		s := newSite(t, one(`status = function(want, host) host.query { "sleep", "100000" } end, perform = function() end,`))
		s.declare(`require "std.one" { "x", timeout = "` + limit + `" }`)
		got = s.run()
		require.Contains(t, got, "timed out after ")
		if strings.HasPrefix(got, "x one#x: failed: sleep 100000: timed out after "+limit+" (site.lua:1)\n") {
			return
		}
	}
	require.Fail(t, "the error does not name the command", got)
}

func TestComparisonByName(t *testing.T) {
	for _, tt := range []struct{ have, want, diff string }{
		{`value = "a"`, `value = "a"`, ``},
		{`value = "a"`, `value = "b"`, `value  a → b`},
		{``, `value = "b"`, ``}, // a property that the state lacks is not compared
		{`value = "a"`, ``, ``}, // a property that was left out is not managed
		{`value = 1`, `value = "1"`, `value  1 (data) → 1 (text)`},
		{`value = "a\nb"`, `value = "c"`, `value  "a\nb" → c`},
		{`list = { "a", "b" }`, `list = { "a", "b" }`, ``},
		{`list = { "b", "a" }`, `list = { "a", "b" }`, `list  b, a → a, b`},
		{`list = {}`, `list = {}`, ``},
		{`list = {}`, `list = { "a" }`, `list a`},
		{`set = { "b", "a", "b" }`, `set = { "a", "b" }`, ``},
		{`set = { "b", "a" }`, `set = { "a", "c" }`, `set  a, b → a, c`},
		{`number = 1`, `number = 1.0`, ``},
		{`number = 0.5`, `number = 1.5`, `number  0.5 → 1.5`},
		{`mode = "644"`, `mode = "0644"`, ``},
		{`mode = "0600"`, `mode = "644"`, `mode  0600 → 0644`},
		{`map = { a = "1" }`, `map = { a = "1" }`, ``},
		{`map = { a = "1" }`, `map = { a = "2", b = "3" }`, `map  a=1 → a=2, b=3`},
		{`token = "t0p"`, `token = "t0p"`, ``},
		{`token = "old"`, `token = "s3cret"`, `token  (secret) → (another secret)`},
	} {
		s := newSite(t, one(fmt.Sprintf(`status = function() return { %s } end, perform = function() end,`, tt.have)))
		s.declare(fmt.Sprintf(`require "std.one" { "x", %s }`, tt.want))
		want := "~ one#x: Would have updated the one\n    " + tt.diff + "\n"
		if tt.diff == "" {
			want = "= one#x: up to date\n"
		}
		require.Equal(t, want, s.plan(), "%s and %s", tt.have, tt.want)
	}
}

// TestEmptyValueOfANewResource: an empty text is shown as one.
func TestEmptyValueOfANewResource(t *testing.T) {
	files := one(`status = function() return { ensure = "absent" } end, perform = function() end,`)
	files["std/one.lua"] = strings.Replace(files["std/one.lua"], "value = {}", `ensure = { default = "present" }, value = {}`, 1)
	s := newSite(t, files)
	s.declare(`require "std.one" { "x", value = "" }`)
	require.Equal(t, "+ one#x: Would have created the one (value \"\")\n", s.plan())
}

func TestVerification(t *testing.T) {
	s := newSite(t, one(`status = function() return { value = "a" } end, perform = function() end,`))
	s.declare(`require "std.one" { "x", value = "b" }`)
	require.Equal(t, "x one#x: failed to reach desired state: value: a → b (site.lua:1)\n    value  a → b\n", s.run())
}

// TestCustomDecision: a script can decide itself, and name its actions.
func TestCustomDecision(t *testing.T) {
	s := newSite(t, one(`
status = function(want, host) return { text = host.read("/x") or "" } end,
decide = function(want, have)
  if have.text == want.value then return end
  return {
    diff = { { "value", #have.text, #want.value }, { property = "token", have = "x", want = "y" } },
    actions = { { "grow", "made it longer" }, { verb = "log", phrase = "noted it" } },
    text = { path = "/x", have = have.text, want = want.value },
  }
end,
perform = function(action, want, have, host)
  if action == "grow" then host.write("/x", want.value) else print(action, have.text) end
end,`))
	s.file("/x", "a\n")
	s.declare(`require "std.one" { "x", value = "a\nb\n" }`)
	const diff = `    value  2 → 4
    token  (secret) → (another secret)
diff --git a/x b/x
--- a/x
+++ b/x
@@ -1 +1,2 @@
 a
+b
`
	require.Equal(t, "~ one#x: Would have made it longer. Would have noted it\n"+diff, s.plan())
	require.Equal(t, "~ one#x: Made it longer. Noted it\n"+diff, s.run())
	require.Equal(t, "log\ta\n\n", s.printed.String(), "perform gets the state of the decision")
	require.Equal(t, "= one#x: up to date\n", s.run())
}

func TestRefresh(t *testing.T) {
	s := newSite(t, map[string]string{"std/motd.lua": motd, "std/daemon.lua": `
return ccm.type {
  name = "daemon",
  properties = { name = { name = true }, ensure = { enum = { "present", "absent" }, default = "present" }, size = { type = "integer" } },
  phrases = { refresh = "restarted it" },
  status = function(want, host)
    local text = host.read("/run/" .. want.name)
    return { ensure = text and "present" or "absent", size = text and #text }
  end,
  perform = function(action, want, have, host)
    host.mkdir("/run")
    host.write("/run/" .. want.name, ("x"):rep(want.size or 1))
  end,
  refresh = function(want, have, host)
    host.write("/run/restarts", (host.read("/run/restarts") or "") .. want.name .. " " .. have.size .. "\n")
  end,
}`})
	s.file("/run/b", "xx")
	s.file("/run/c", "x")
	s.declare(`
local motd, daemon = require "std.motd", require "std.daemon"
local m = motd { "/motd", text = "hi" }
daemon { "a", subscribe = m }
daemon { "b", subscribe = m }
daemon { "c", subscribe = m, size = 3 }
`)
	const want = `+ motd#/motd: %[1]screated the motd (text hi, mode 0644)
+ daemon#a: %[1]screated the daemon
! daemon#b: %[1]srestarted it, because motd#/motd %[2]s
! daemon#c: %[1]supdated the daemon. %[1]srestarted it, because motd#/motd %[2]s
    size  1 → 3
`
	require.Equal(t, fmt.Sprintf(want, "Would have ", "would change"), s.plan())
	run := strings.NewReplacer("Created", "created", "Restarted", "restarted", "Updated", "updated").Replace(s.run())
	require.Equal(t, fmt.Sprintf(want, "", "changed"), run)
	require.Equal(t, "b 2\nc 1\n", s.content("/run/restarts"))
}

// TestReferencesAcrossTypes: types of scripts and built-in types can refer to each other.
func TestReferencesAcrossTypes(t *testing.T) {
	s := newSite(t, map[string]string{"std/motd.lua": motd})
	require.Empty(t, s.eval(`
local motd = require "std.motd"
motd.defaults { mode = "0640" }
motd { "/b", text = "b", require = "motd#first" }
motd { "/a", text = "a", alias = "first" }
`))
	require.Equal(t, `+ motd#/a: Created the motd (text a, mode 0640)
+ motd#/b: Created the motd (text b, mode 0640)
`, s.run())

	s = newSite(t, map[string]string{"std/motd.lua": motd})
	s.declare(`require "std.motd" { "/a", text = "a", require = "motd#/etc/mtod" }
require "std.motd" { "/etc/motd", text = "a" }`)
	_, err := s.builder.Build()
	require.EqualError(t, err, `site.lua:1:50: motd#/a: require: no resource motd#/etc/mtod (did you mean motd#/etc/motd?)`)
}

// TestForgottenModule: a type whose module was not required is an undefined name.
func TestForgottenModule(t *testing.T) {
	s := newSite(t, map[string]string{"std/motd.lua": motd})
	require.Contains(t, s.eval(`motd { "/a", text = "a" }`), `site.lua:1:1: undefined global "motd" (use std.motd)`)
}

// TestLeaves: the files that a type announces exist for later resources in a plan.
func TestLeaves(t *testing.T) {
	for _, tt := range []struct{ leaves, want string }{
		{``, "~ peek#p: Would have updated the peek\n    value x\n"},
		{`return { { path = "/x", kind = "file", content = "x", mode = "0600" } }`, "= peek#p: up to date\n"},
		{`return { { path = "/x", kind = "absent" } }`, "~ peek#p: Would have updated the peek\n    value x\n"},
		{`return { { path = "/x", kind = "file" } }`, "? peek#p: after one#o (pending): would fail: "},
		{`return { { path = "/x" } }`, "? peek#p: unknown before one#o (pending); now: would update\n"},
		{`return { { path = "/x" } }, "command"`, `second result: expected true, "commands" or "services", got "command"`},
		{`return 1`, "x one#o: failed: stdlib/std/one.lua:9: leaves of the type one: expected a list of the effects, got the number 1"},
		{`return { { path = "x" } }`, `leaves of the type one: [1]: path: expected an absolute path, got "x"`},
		{`return { { path = "/x", kind = "pipe" } }`, `[1]: kind: expected file, directory, link, absent or nil, got "pipe"`},
		{`return { { path = "/x", cnotent = "" } }`, `[1]: unknown field "cnotent"`},
	} {
		functions := `status = function(want, host) return { value = host.stat("/x") and "b" or "a" } end,
perform = function(action, want, have, host) host.write("/x", "x", { mode = "0600" }) end,`
		if tt.leaves != "" {
			functions += "\nleaves = function(want, have) " + tt.leaves + " end,"
		}
		library := one(functions)
		library["std/peek.lua"] = `return ccm.type {
  name = "peek", properties = { name = { name = true }, value = {} },
  status = function(want, host) return { value = host.read("/x") or "" } end, perform = function() end,
}`
		s := newSite(t, library)
		s.declare(`require "std.one" { "o", value = "b" } require "std.peek" { "p", value = "x" }`)
		require.Contains(t, s.plan(), tt.want, tt.leaves)
	}
}

// TestLeavesAccounts: the users and groups that a type announces are known to later resources in a plan.
func TestLeavesAccounts(t *testing.T) {
	for _, tt := range []struct{ leaves, ask, want string }{
		{`{ group = "g", gid = 7 }`, `pending_group "g"`, `: present 7`},
		{`{ group = "g" }, { group = "g", members = { "u", "v" } }`, `pending_group "g"`, `: present nil u,v`},
		{`{ user = "u", uid = 8 }`, `pending_user "u"`, `: present 8`},
		{`{ user = "u", uid = 8 }`, `pending_user(8)`, `: present 8`},
		{`{ user = "u", uid = 8 }`, `pending_user(9)`, `: nothing`},
		{`{ group = "u", gid = 8 }`, `pending_user(8)`, `: nothing`},
		{`{ user = "u", uid = 8, kind = "absent" }`, `pending_user(8)`, `: nothing`},
		{`{ user = "u", kind = "absent" }`, `pending_user "u"`, `: absent nil`},
		{`{ user = "u" }`, `pending_group "u"`, `: nothing`},
		{`{ user = "u", kind = "gone" }`, `pending_group "u"`, `kind: expected absent, unknown or nil for a user or group, got "gone"`},
		{`{ user = "u" }`, `pending_user("u", { needed = true })`, `? peek#p: after one#o (pending)`},
		{`{ user = "u", kind = "unknown" }`, `pending_user "u"`, `? peek#p: after one#o (pending)`},
	} {
		library := one(`status = function(want, host) return { value = host.stat("/x") and "b" or "a" } end,
perform = function(action, want, have, host) host.write("/x", "x") end,
leaves = function() return { ` + tt.leaves + ` } end,`)
		library["std/peek.lua"] = `return ccm.type {
  name = "peek", properties = { name = { name = true }, value = {} },
  status = function(want, host)
    local a = host.` + tt.ask + `
    error(a and ("%s %s %s"):format(a.ensure, a.uid or a.gid, table.concat(a.members or {}, ",")) or "nothing", 0)
  end,
  perform = function() end,
}`
		s := newSite(t, library)
		s.declare(`require "std.one" { "o", value = "b" } require "std.peek" { "p", value = "x" }`)
		require.Contains(t, s.plan(), tt.want, tt.leaves)
	}
}

// TestLeavesMore: resources behind a type that announces its files are known in a plan, except for the output of
// commands.
func TestLeavesMore(t *testing.T) {
	for more, want := range map[string][]string{
		"nil":        {"nothing at /y (site.lua:1)\n", "~ ask#q: Would have updated the ask\n"},
		`"commands"`: {"nothing at /y (site.lua:1)\n", "? ask#q: unknown before one#o (pending)"},
		"true":       {"? peek#p: unknown before one#o (pending)", "? ask#q: unknown before one#o (pending)"},
	} {
		library := one(`status = function(want, host) return { value = host.stat("/x") and "b" or "a" } end,
perform = function(action, want, have, host) host.write("/x", "x") end,
leaves = function() return { { path = "/x", kind = "file", content = "x" } }, ` + more + " end,")
		library["std/peek.lua"] = `return ccm.type {
  name = "peek", properties = { name = { name = true } },
  status = function(want, host) if not host.stat("/y") then error("nothing at /y", 0) end return {} end, perform = function() end,
}`
		library["std/ask.lua"] = `return ccm.type {
  name = "ask", properties = { name = { name = true }, value = {} },
  status = function(want, host) host.query { "true" } return { value = "y" } end, perform = function() end,
}`
		s := newSite(t, library)
		s.declare(`require "std.one" { "o", value = "b" } require "std.peek" { "p" } require "std.ask" { "q", value = "x", require = "one#o" }`)
		for _, line := range want {
			require.Contains(t, s.plan(), line, more)
		}
	}
}

// TestUnknownInAPlan: the content of a file that a pending resource will write is unknown.
func TestUnknownInAPlan(t *testing.T) {
	s := newSite(t, map[string]string{"std/motd.lua": motd})
	s.file("/a", "old")
	s.declare(`require "std.motd" { "/a", text = "new" }`)
	h := host.New(s.options)
	v := h.Planning(t.Context())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/a", Kind: safepath.Regular})
	r := s.builder.Resources()[0]
	f, err := s.reg.Select(r, nil)
	require.NoError(t, err)
	_, err = f.Status(context.Background(), v, r.Spec)
	require.ErrorContains(t, err, "/a: its content is unknown until it is written")
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/a", Kind: safepath.Regular, Content: new("new")})
	state, err := f.Status(context.Background(), v, r.Spec)
	require.NoError(t, err)
	require.True(t, r.Type.Decide(r.Spec, state, false).Stable())
	require.False(t, errors.Is(err, overlay.ErrNotKnown))
}
