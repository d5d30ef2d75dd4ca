-- What the types that edit a file promise. stdlib/edits_test.go tries more.
require "std.line"
require "std.block"
require "std.kv"
require "std.ini"
require "std.replace"
require "std.json_setting"
require "std.yaml_setting"
require "std.toml_setting"

suite("line", {
  starts = {
    empty = { files = { ["/etc/x"] = "" } },
    there = { files = { ["/etc/x"] = "one\nPort 22\n" } },
    other = { files = { ["/etc/x"] = "Port 1\ntwo" } },
    missing = { files = { ["/etc/y"] = "" } },
  },
  wants = {
    line = { "/etc/x", line = "Port 22" },
    match = { "port", path = "/etc/x", line = "Port 22", match = [[^Port\s]] },
    made = { "/etc/x", line = "Port 22", create = { mode = "0600" } },
    groups = { "/etc/x", line = "${1} 22", match = "^(Port) .*$" },
    before = { "/etc/x", line = "Port 22", insert_before = "^two" },
    absent = { "/etc/x", line = "Port 22", ensure = "absent" },
  },
  phrases = {
    ["empty/line"] = { "added the line" }, ["there/line"] = {}, ["other/match"] = { "replaced the line" },
    ["there/absent"] = { "removed the line" }, ["missing/absent"] = {},
    ["missing/made"] = { "created the file and added the line" }, ["other/groups"] = { "replaced the line" }, ["empty/groups"] = {},
  },
  fails = {
    ["missing/line"] = "found nothing", ["missing/match"] = "found nothing", ["missing/groups"] = "found nothing",
    ["missing/before"] = "found nothing",
  },
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
    section = { "server", path = "/etc/x", whole_section = true, ensure = "absent" },
  },
  phrases = { ["there/set"] = {}, ["elsewhere/set"] = { "added the setting" }, ["elsewhere/absent"] = {} },
})

suite("replace", {
  starts = {
    old = { files = { ["/etc/x"] = "a = 1\nb = 1\n" } },
    new = { files = { ["/etc/x"] = "a = 8\n" } },
  },
  wants = {
    eight = { "/etc/x", match = [[^(a = )\d+$]], replacement = "${1}8" },
    grows = { "/etc/x", match = "a", replacement = "aa" },
  },
  phrases = { ["old/eight"] = { "replaced the text" }, ["new/eight"] = {} },
  fails = { ["old/grows"] = "would replace something again", ["new/grows"] = "would replace something again" },
})

for name, text in pairs { json_setting = '{ "a": { "b": 1 } } // c\n', yaml_setting = "a:\n  b: 1 # c\n", toml_setting = "[a]\nb = 1 # c\n" } do
  suite(name, {
    starts = { there = { files = { ["/etc/x"] = text } }, empty = { files = { ["/etc/x"] = "" } } },
    wants = {
      set = { "a.b", path = "/etc/x", value = 2 },
      list = { "a.c", path = "/etc/x", value = { "x", "y" } },
      absent = { "a.b", path = "/etc/x", ensure = "absent" },
      inside = { "a.b.c", path = "/etc/x", value = 1 },
    },
    phrases = { ["there/set"] = { "changed the setting" }, ["there/absent"] = { "removed the setting" }, ["empty/list"] = { "added the setting" } },
    fails = { ["there/inside"] = 'a.b is a value and holds no "c"' },
  })
end
