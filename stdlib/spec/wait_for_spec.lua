-- The contract of wait_for for a file. No condition changes while waiting here, so waiting fails.
require "std.wait_for"

local waits = "waiting is not available in specs"

suite("wait_for", {
  starts = { nothing = {}, there = { files = { ["/run/app.ready"] = "not yet\n" } }, ready = { files = { ["/run/app.ready"] = "ready\n" } } },
  wants = {
    file = { "/run/app.ready" },
    match = { "/run/app.ready", match = "^ready" },
    gone = { "/run/app.ready", ensure = "absent" },
  },
  phrases = {
    ["nothing/file"] = { "waited until /run/app.ready is there" }, ["there/file"] = {},
    ["there/match"] = { 'waited until "^ready" in /run/app.ready is there' }, ["ready/match"] = {},
    ["nothing/gone"] = {}, ["there/gone"] = { "waited until /run/app.ready is gone" },
  },
  fails = {
    ["nothing/file"] = waits, ["nothing/match"] = waits, ["there/match"] = waits, ["there/gone"] = waits, ["ready/gone"] = waits,
  },
})
