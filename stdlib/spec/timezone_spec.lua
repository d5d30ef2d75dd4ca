-- The contract of timezone for /etc/localtime and /etc/timezone.
require "std.timezone"

local zone = { ["/usr/share/zoneinfo/Europe/Berlin"] = "TZif", ["/etc/hosts"] = "" }

suite("timezone", {
  starts = {
    unknown = {},
    none = { files = zone },
    file = { files = tbl.merge(zone, { ["/etc/localtime"] = "TZif" }) },
    debian = { files = tbl.merge(zone, { ["/etc/timezone"] = "Etc/UTC\n" }) },
  },
  wants = { berlin = { "Europe/Berlin" } },
  phrases = { ["none/berlin"] = { "set the time zone" }, ["file/berlin"] = { "set the time zone" }, ["debian/berlin"] = { "set the time zone" } },
  fails = { ["unknown/berlin"] = "no such time zone Europe/Berlin" },
})
