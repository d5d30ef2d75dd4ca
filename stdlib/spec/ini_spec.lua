require "std.ini"

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
  phrases = { ["there/set"] = {}, ["elsewhere/set"] = { "added the setting" }, ["elsewhere/absent"] = {},
    ["there/absent"] = { "removed the setting" }, ["there/section"] = { "removed the section" }, ["empty/section"] = {} },
})
