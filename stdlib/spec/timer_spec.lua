-- The contract of timer for its two units. The integration tests have systemd too.
require "std.timer"

local service = "[Unit]\nDescription=backup\n\n[Service]\nType=oneshot\nExecStart=/bin/backup\n"

suite("timer", {
  starts = {
    none = {}, users = { files = { ["/etc/passwd"] = "root:x:0:0::/root:/bin/sh\n" } },
    other = { files = { ["/etc/systemd/system/backup.service"] = service, ["/etc/systemd/system/backup.timer"] = "[Timer]\nOnCalendar=weekly\n" } },
  },
  wants = {
    daily = { "backup", command = "/bin/backup", schedule = "daily" },
    stranger = { "backup", command = "/bin/backup", schedule = "daily", user = "stranger" },
    absent = { "backup", ensure = "absent" },
  },
  phrases = {
    ["none/daily"] = { "created the timer" }, ["other/daily"] = { "updated the timer" },
    ["none/absent"] = {}, ["other/absent"] = { "removed the timer" },
  },
  fails = { ["users/stranger"] = 'no such user "stranger", the user of the command' },
})
