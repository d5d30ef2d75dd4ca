-- The contract of host. TestHost tries more.
require "std.host"

suite("host", {
  starts = {
    empty = { files = { ["/etc/hosts"] = "" } },
    other = { files = { ["/etc/hosts"] = "127.0.0.1 localhost db\n192.0.2.9 db.example.org # mine\n2001:db8::1 db.example.org\n" } },
    missing = {},
  },
  wants = {
    host = { "db.example.org", ip = "192.0.2.10" },
    aliases = { "db.example.org", ip = "192.0.2.9", aliases = { "db" } },
    absent = { "db.example.org", ensure = "absent" },
  },
  phrases = {
    ["empty/host"] = { "added the host" }, ["other/host"] = { "changed the host" }, ["empty/absent"] = {},
    ["other/absent"] = { "removed the host" }, ["missing/absent"] = {},
  },
  fails = { ["missing/host"] = "found nothing", ["missing/aliases"] = "found nothing" },
})
