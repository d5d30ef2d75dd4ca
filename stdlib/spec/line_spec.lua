require "std.line"

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
