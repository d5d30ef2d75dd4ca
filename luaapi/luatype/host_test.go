package luatype_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestHostIsOnlyThereMeanwhile(t *testing.T) {
	s := newSite(t, one(`status = function(want, host)
  if kept.host then kept.host.read("/x") end
  return {}
end, perform = function() end, validate = function(want) if want.value == "v" then kept.host.read("/x") end end,`))
	got := s.eval(`require "std.one" { "x", value = "v" }`)
	require.Contains(t, got, `undefined global "kept"`)

	s = newSite(t, map[string]string{"std/one.lua": `
local kept
local one = ccm.type {
  name = "one", properties = { name = { name = true } },
  status = function(want, host)
    kept = kept or host
    return {}
  end,
  perform = function() end,
}
return { one = one, late = function() kept.read("/x") end, look = function() kept.write("/x", "") end }
`})
	s.declare(`local m = require "std.one"
m.one "x"`)
	require.Equal(t, "= one#x: up to date\n", s.run())
	got = s.eval(`require("std.one").late()`)
	require.Contains(t, got, "host.read: can be called only in status or perform")
}

// The time limit of a type applies to its Lua code, not to the work of host functions.
func TestWorkOfTheHostIsNotLimited(t *testing.T) {
	s := newSiteWithin(t, one(`
status = function(want, host) return { value = host.read("/x") or "" } end,
perform = function(action, want, have, host)
  for _, path in ipairs { "/x", "/y" } do host.write(path, want.value, { mode = "0600" }) end
end,`), time.Second)
	s.options.Effect = func(op, _ string) error {
		if op == "write" {
			time.Sleep(1500 * time.Millisecond)
		}
		return nil
	}
	s.declare(`require "std.one" { "x", value = "v" }`)
	require.Contains(t, s.run(), "one#x: ")
	require.Equal(t, "v", s.content("/y"))
}

// TestHost: the effects of the functions of host.
func TestHost(t *testing.T) {
	owner, group := hosttest.Me()
	s := newSite(t, one(`
status = function(want, host)
  local x = host.stat("/d/x")
  return { value = x and x.kind == "file" and host.read("/d/x") or "" }
end,
perform = function(action, want, have, host)
  host.mkdir("/d", { mode = "0750" })
  host.write("/d/x", want.value, { owner = "`+owner+`", group = "`+group+`", mode = "0600" })
  assert(host.stat("/d/x").mode == "0600" and host.stat("/d").mode == "0750")
  host.chmod("/d/x", "0640")
  host.chown("/d/x", "`+owner+`")
  host.write("/d/x", want.value)
  assert(host.stat("/d/x").mode == "0640", "attributes that are not given stay")
  host.symlink("x", "/d/l")
  host.symlink("y", "/d/l")
  local l = host.stat("/d/l")
  assert(l.kind == "link" and l.target == "y" and host.read("/d/l") == nil)
  host.copy(want.name, "/d/copy", { mode = "0600" })
  assert(host.read("/d/copy"):match("^package luatype_test"))
  assert(table.concat(host.list("/d"), " ") == "copy l x")
  assert(table.concat(host.glob("/d/?"), " ") == "/d/l /d/x")
  local seen = {}
  for _, e in ipairs(host.tree("/", { sums = true })) do seen[#seen + 1] = e.path .. ":" .. e.kind .. ":" .. #(e.sum or "") .. (e.target or "") end
  assert(table.concat(seen, " ") == "d:directory:0 d/copy:file:64 d/l:link:0y d/x:file:64", table.concat(seen, " "))
  assert(#host.tree(want.name:match("^(.*)/"), { source = true, sums = true }) > 3)
  for _, e in ipairs(host.tree("/", { brief = true })) do assert(e.path and e.kind and e.mode and not e.owner) end
  local c = host.compare(want.name:match("^(.*)/"), "/d", { exclude = { "*.go" }, dir_mode = "0700" })
  assert(#c.missing == 0 and #c.changed == 0 and table.concat(c.extra, " ") == "copy l x" and c.attributes[1] == ".")
  host.remove("/d/copy")
  host.remove("/d/copy")
  assert(not pcall(host.remove, "/d"))
  host.mkdir("/e/f")
  host.write("/e/f/g", "")
  host.symlink("f", "/e/to")
  host.mkdir("/e/to")
  assert(not pcall(host.mkdir, "/e/to", { mode = "0700" }), "the mode is that of the link or of the directory")
  host.remove("/e", { recursive = true })
  local out, code, errors = host.run { "sh", "-c", "cat; echo $A $PWD; echo oops >&2; exit 3", env = { A = 1 }, stdin = "in ", cwd = "/d", check = false, timeout = "1m" }
  assert(out == "in 1 " .. host.root .. "/d" and code == 3 and errors == "oops", out)
  assert(host.which("sh") and not host.which("no-such-command"))
end,`))
	here, err := os.Getwd()
	require.NoError(t, err)
	s.declare(fmt.Sprintf(`require "std.one" { %q, value = "text" }`, here+"/behave_test.go"))
	require.Contains(t, s.run(), "Updated the one")
	require.Equal(t, "text", s.content("/d/x"))
	require.NoDirExists(t, s.root+"/e")
}

// TestEveryEffectFails: a type of a script has no effects except those of the host.
func TestEveryEffectFails(t *testing.T) {
	for n, last := 1, false; !last; n++ {
		s := newSite(t, map[string]string{"std/motd.lua": motd})
		effect, asked := hosttest.Failing(n, 1)
		s.options.Effect = effect
		s.file("/etc/motd", "old")
		s.declare(`require "std.motd" { "/etc/motd", text = "new" }`)
		run := s.run()
		if last = asked() < n; last {
			require.Equal(t, "new", s.content("/etc/motd"))
			continue
		}
		require.Contains(t, run, hosttest.ErrInjected.Error())
		require.Contains(t, []string{"old", "new"}, s.content("/etc/motd"))
	}
}
