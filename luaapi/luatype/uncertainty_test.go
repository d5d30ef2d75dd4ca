package luatype_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestUncertain: if perform changes nothing, the resource is stable and nothing is refreshed.
func TestUncertain(t *testing.T) {
	s := newSite(t, one(`
status = function(want, host) return { text = host.read("/x") or "" } end,
decide = function(want, have)
  if have.text == want.value then return end
  return { actions = { { "try", "tried it" } }, uncertain = "nobody knows" }
end,
perform = function(action, want, have, host)
  if want.value == "nothing" then return false end
  host.write("/x", want.value)
end,`))
	s.declare(`require "std.one" { "x", value = "nothing" }`)
	require.Equal(t, "? one#x: would try, unknown whether it changes anything: nobody knows\n", s.plan())
	require.Equal(t, "= one#x: up to date\n", s.run())
	s.declare(`require "std.one" { "y", value = "it" }`)
	require.Equal(t, "= one#x: up to date\n~ one#y: Tried it\n", s.run())
	require.Equal(t, "it", s.content("/x"))
}

// TestConnects: host.connects reports whether a port accepts connections, and why not.
func TestConnects(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	s := newSite(t, one(`
status = function(want, host)
  local found, why = host.connects("127.0.0.1", tonumber(want.value), { timeout = "1m" })
  error(tostring(found) .. " " .. tostring(why), 0)
end, perform = function() end,`))
	s.declare(`require "std.one" { "x", value = "` + port + `" }`)
	require.Contains(t, s.plan(), "true nil")
	s.declare(`require "std.one" { "y", value = "` + hosttest.RefusedPort(t) + `" }`)
	require.Contains(t, s.plan(), "connection refused")
	s.declare(`require "std.one" { "z", value = "65536" }`)
	require.Contains(t, s.plan(), "host.connects: expected a port as argument 2, got the number 65536")
}
