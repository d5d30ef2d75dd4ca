require "std.kv"

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
