require "std.toml_setting"

suite("toml_setting", {
  starts = { there = { files = { ["/etc/x"] = "[a]\nb = 1 # c\n" } }, empty = { files = { ["/etc/x"] = "" } } },
  wants = {
    set = { "a.b", path = "/etc/x", value = 2 },
    list = { "a.c", path = "/etc/x", value = { "x", "y" } },
    absent = { "a.b", path = "/etc/x", ensure = "absent" },
    inside = { "a.b.c", path = "/etc/x", value = 1 },
  },
  phrases = { ["there/set"] = { "changed the setting" }, ["there/absent"] = { "removed the setting" }, ["empty/list"] = { "added the setting" } },
  fails = { ["there/inside"] = 'a.b is a plain value without "c"' },
})
