-- What timer promises of its two units. The integration tests have systemd as well.
require "std.timer"

local service = "[Unit]\nDescription=backup\n\n[Service]\nType=oneshot\nExecStart=/bin/backup\n"

suite("timer", {
  starts = {
    none = {},
    other = { files = { ["/etc/systemd/system/backup.service"] = service, ["/etc/systemd/system/backup.timer"] = "[Timer]\nOnCalendar=weekly\n" } },
  },
  wants = {
    daily = { "backup", command = "/bin/backup", schedule = "daily" },
    absent = { "backup", ensure = "absent" },
  },
  phrases = {
    ["none/daily"] = { "created the timer" }, ["other/daily"] = { "updated the timer" },
    ["none/absent"] = {}, ["other/absent"] = { "removed the timer" },
  },
})
