-- What the types that edit a file promise. stdlib/edits_test.go tries more.
require "std.line"
require "std.block"
require "std.kv"
require "std.ini"

suite("line", {
  starts = {
    empty = { files = { ["/etc/x"] = "" } },
    there = { files = { ["/etc/x"] = "one\nPort 22\n" } },
    other = { files = { ["/etc/x"] = "Port 1\ntwo" } },
    missing = {},
  },
  wants = {
    line = { "/etc/x", line = "Port 22" },
    match = { "port", path = "/etc/x", line = "Port 22", match = [[^Port\s]] },
    absent = { "/etc/x", line = "Port 22", ensure = "absent" },
  },
  phrases = {
    ["empty/line"] = { "added the line" }, ["there/line"] = {}, ["other/match"] = { "replaced the line" },
    ["there/absent"] = { "removed the line" }, ["missing/absent"] = {},
  },
  fails = { ["missing/line"] = "found nothing", ["missing/match"] = "found nothing" },
})

suite("block", {
  starts = {
    empty = { files = { ["/etc/x"] = "" } },
    other = { files = { ["/etc/x"] = "a\n# BEGIN ccm b\nold\n# END ccm b\nz\n" } },
    broken = { files = { ["/etc/x"] = "# END ccm b\n" } },
  },
  wants = {
    block = { "b", path = "/etc/x", content = "one\ntwo\n" },
    absent = { "b", path = "/etc/x", ensure = "absent" },
  },
  phrases = { ["empty/block"] = { "added the block" }, ["other/block"] = { "updated the block" }, ["empty/absent"] = {} },
  fails = { ["broken/block"] = "one of the two markers", ["broken/absent"] = "one of the two markers" },
})

suite("kv", {
  starts = {
    empty = { files = { ["/etc/x"] = "" } },
    twice = { files = { ["/etc/x"] = "Port 1\nPort 22\n" } },
    limited = { files = { ["/etc/x"] = "#Port 22\nMatch all\nPort 1\n" } },
  },
  wants = {
    port = { "Port", path = "/etc/x", value = "22", ends_at = "^Match " },
    absent = { "Port", path = "/etc/x", ensure = "absent", ends_at = "^Match " },
  },
  phrases = { ["twice/port"] = { "changed the setting" }, ["limited/port"] = { "added the setting" }, ["limited/absent"] = {} },
})

suite("ini", {
  starts = {
    empty = { files = { ["/etc/x"] = "" } },
    there = { files = { ["/etc/x"] = "[server]\nlisten = 80\n" } },
    elsewhere = { files = { ["/etc/x"] = "listen = 80\n[client]\nlisten = 80\n" } },
  },
  wants = {
    set = { "listen", path = "/etc/x", section = "server", value = "80" },
    absent = { "listen", path = "/etc/x", section = "server", ensure = "absent" },
  },
  phrases = { ["there/set"] = {}, ["elsewhere/set"] = { "added the setting" }, ["elsewhere/absent"] = {} },
})
