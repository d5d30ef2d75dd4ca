-- timer: runs a command regularly, by a timer of systemd.
--
--   std.timer { "backup", command = "/usr/local/bin/backup --all", schedule = "*-*-* 03:30", user = "backup" }
--
-- It keeps backup.service and backup.timer in /etc/systemd/system.

local accounts, calendar, systemd = require "std.accounts", require "std.calendar", require "std.systemd"

local function files(want)
  local base = systemd.directory .. "/" .. want.name
  return base .. ".service", base .. ".timer"
end

-- By this file systemd knows when a persistent timer ran last.
local function last_run(want) return "/var/lib/systemd/timers/stamp-" .. want.name .. ".timer" end

-- The texts of the two units.
local function render(want)
  local title = want.description or want.name
  local service = { "[Unit]", "Description=" .. title, "", "[Service]", "Type=oneshot", "ExecStart=" .. want.command }
  if want.user then table.insert(service, "User=" .. want.user) end
  local clock = { "[Unit]", "Description=" .. title, "", "[Timer]" }
  for _, s in ipairs(want.schedule) do table.insert(clock, "OnCalendar=" .. s) end
  table.insert(clock, "Persistent=" .. tostring(want.persistent))
  if want.delay then table.insert(clock, "RandomizedDelaySec=" .. want.delay) end
  clock = tbl.concat(clock, { "", "[Install]", "WantedBy=timers.target" })
  return str.join(service, "\n") .. "\n", str.join(clock, "\n") .. "\n"
end

return ccm.type {
  name = "timer",
  doc = "Schedules a command with a systemd service and timer.",
  commands = { "systemctl", "getent", "systemd-analyze", "journalctl", "sleep" },
  properties = {
    name = { name = true, doc = "The name of the two units, without a suffix.", example = "backup" },
    command = { one_line = true, doc = "The command with an absolute path, as in ExecStart: no shell is used, and write %% for a percent sign. Required unless ensure is absent." },
    schedule = { type = "list", one_line = true, doc = "The schedule, see systemd.time(7), such as daily or Mon *-*-* 03:30. Required unless ensure is absent." },
    user = { one_line = true, kind = "owner", doc = "The user that runs the command; must exist. Default: root." },
    description = { one_line = true, doc = "The description of the units. Default: the name." },
    persistent = { type = "boolean", default = true, doc = "Whether to run after boot if a scheduled time was missed." },
    delay = { one_line = true, doc = "The maximum random delay after the scheduled time, such as 5m." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the timer should exist." },
  },

  validate = function(want)
    if not re.test(want.name, [[^[\w:.@-]+$]]) then return "name", "expected a unit name without its suffix, got " .. inspect(want.name) end
    if want.ensure == "absent" then return end
    if not want.command or not str.starts(want.command, "/") then return "command", "expected a command with an absolute path" end
    if #(want.schedule or {}) == 0 then return "schedule", "is required unless ensure is absent" end
    local wrong = calendar.first_mistake(want.schedule)
    if wrong then return "schedule", wrong end
  end,

  status = function(want, host)
    -- A service with an unknown user would fail each time the timer starts it.
    if want.ensure == "present" and want.user and not want.user:find("%", 1, true) then accounts.check_user(host, want.user, "the user of the command", true) end
    local service, clock = files(want)
    for _, f in ipairs { service, clock } do systemd.refuse_mask(host, f) end
    local have = { service = host.read(service), timer = host.read(clock), ran = host.stat(last_run(want)) ~= nil }
    if want.ensure == "present" and have.timer ~= select(2, render(want)) then
      for _, s in ipairs(want.schedule) do systemd.check_time(host, "schedule", "calendar", s) end
      if want.delay then systemd.check_time(host, "delay", "timespan", want.delay) end
    end
    have.ensure = (have.service or have.timer) and "present" or "absent"
    if have.ensure == "absent" then return have end
    have.command, have.user = systemd.settings(have.service, "ExecStart")[1] or "", systemd.settings(have.service, "User")[1] or ""
    have.schedule = systemd.settings(have.timer, "OnCalendar")
    local found = systemd.show(host, want.name .. ".timer", "UnitFileState", "ActiveState", "NeedDaemonReload")
    have.enabled = found.UnitFileState == "enabled"
    have.active = not systemd.runs(host) or found.ActiveState == "active"
    have.unread = found.NeedDaemonReload == "yes"
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if want.ensure == "absent" or #d.diff > 0 then return d end
    local service, clock = render(want)
    local fault = (have.service ~= service or have.timer ~= clock) and "with other settings"
      or not have.enabled and "disabled" or not have.active and "stopped" or have.unread and "not loaded by systemd yet"
    if not fault then return end
    return { diff = { { "ensure", fault, "present" } }, actions = { { "update", "updated the timer" } } }
  end,

  leaves = function(want, have)
    local service_file, timer_file = files(want)
    local link, stamp = { path = systemd.directory .. "/timers.target.wants/" .. want.name .. ".timer" }, { path = last_run(want) }
    if want.ensure == "absent" then return { { path = service_file, kind = "absent" }, { path = timer_file, kind = "absent" }, link }, "commands" end
    local service, clock = render(want)
    local function left(file, text) return { path = file, kind = "file", content = text, mode = "0644" } end
    local starts = want.persistent and not (have and not have.ran) -- makes up at once for a time that was missed
    return { left(service_file, service), left(timer_file, clock), link, stamp }, starts and "services" or "commands"
  end,

  programs = function(action, _, have) return (action == "remove") == (have.enabled == true) and { { "systemctl", below_root = true } } or {} end,

  recreate = require("std.recreate").timer,

  perform = function(action, want, have, host)
    local service_file, timer_file = files(want)
    local name = want.name .. ".timer"
    if action == "remove" then
      if have.enabled then systemd.enable(host, name, false) end
      if have.active then systemd.ctl(host, "stop", "--", name) end
      host.remove(timer_file)
      host.remove(service_file)
      return systemd.ctl(host, "daemon-reload")
    end
    local service, clock = render(want)
    host.mkdir(systemd.directory)
    if have.service ~= service then host.write(service_file, service, { mode = "0644" }) end
    if have.timer ~= clock then host.write(timer_file, clock, { mode = "0644" }) end
    systemd.ctl(host, "daemon-reload")
    if not have.enabled then systemd.enable(host, name, true) end
    systemd.start(host, name, "restart")
  end,
}
