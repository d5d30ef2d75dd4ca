-- cron: runs a command regularly, by a file in /etc/cron.d.
--
--   std.cron { "backup", command = "/usr/local/bin/backup --all", schedule = "30 3 * * *", user = "backup" }

local accounts, crontab = require "std.accounts", require "std.crontab"

local function file(want) return "/etc/cron.d/" .. want.name end

-- Whether cron ignores a file because of its owner or mode. Its owner must be that of the directory, which is root
-- except in tests.
local function refused(host, path)
  local found, directory = host.stat(path), host.stat("/etc/cron.d")
  return found.kind == "file" and (found.uid ~= directory.uid or re.test(found.mode, "[2367].?$"))
end

-- Whether cron is that of busybox, which only reads /etc/crontabs, with a file for each user.
local function of_busybox(host)
  local found = host.stat "/usr/sbin/crond"
  return found and found.kind == "link" and str.ends(found.target, "/busybox")
end

local function render(want)
  local list = { "# Kept by ccm." }
  for name, value in tbl.pairs(want.environment or {}) do list[#list + 1] = name .. "=" .. crontab.quoted(value) end
  list[#list + 1] = str.join({ want.schedule, want.user, crontab.escaped(want.command) }, " ")
  return str.join(list, "\n") .. "\n"
end

return ccm.type {
  name = "cron",
  doc = "Schedules a command with cron, by a file in /etc/cron.d.",
  commands = { "getent" },
  properties = {
    name = { name = true, doc = "The name of the file: letters, digits, hyphens and underscores (cron ignores other names).", example = "backup" },
    command = { one_line = true, doc = "The shell command. Required unless ensure is absent." },
    schedule = { one_line = true, doc = "The schedule, see crontab(5): five fields, or a word such as @daily. Required unless ensure is absent.", example = "30 3 * * *" },
    user = { one_line = true, kind = "owner", default = "root", doc = "The user that runs the command; must exist." },
    environment = { type = "map", doc = "Environment variables of the command, such as MAILTO." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the file should exist." },
  },
  phrases = { create = "created the cron job", update = "updated the cron job", remove = "removed the cron job" },

  validate = function(want)
    if not re.test(want.name, "^[A-Za-z0-9_-]+$") then return "name", "expected letters, digits, hyphens and underscores, got " .. inspect(want.name) end
    if want.ensure == "absent" then return end
    if not want.command then return "command", "is required unless ensure is absent" end
    local wrong = crontab.schedule_mistake(want.schedule or "")
    if wrong then return "schedule", wrong end
    if not re.test(want.command, [[^\S.*$]]) then return "command", "expected a line that does not begin with a space, got " .. inspect(want.command) end
    if not re.test(want.user, [[^[\w.][\w.@-]*\$?$]]) then return "user", "expected a user name, got " .. inspect(want.user) end
    local misfit = crontab.environment_mistake(want.environment or {})
    if misfit then return "environment", misfit end
  end,

  status = function(want, host)
    if want.ensure == "present" and of_busybox(host) then
      error("cron of busybox does not read /etc/cron.d (install the package cronie, or add a std.line to /etc/crontabs/" .. want.user .. ")", 0)
    end
    -- cron ignores a file with an unknown user, and reports it only in its log.
    if want.ensure == "present" then accounts.check_user(host, want.user, "the user of the command") end
    local text = host.read(file(want))
    if not text then return { ensure = "absent" } end
    local have = { ensure = "present", text = text, environment = {}, refused = refused(host, file(want)) }
    have.owner = host.stat("/etc/cron.d").owner
    for _, l in ipairs(str.lines(text)) do
      local job = re.match(l, [[^\s*(@\w+|[^\s#=]+(?:\s+\S+){4})\s+(\S+)\s+(.*)$]])
      local variable = re.match(l, [[^(\w+)=(.*)$]])
      if variable then
        have.environment[variable[1]] = crontab.unquoted(variable[2])
      elseif job then
        have.schedule, have.user, have.command = str.join(str.fields(job[1]), " "), job[2], job[3]
        if want.command and crontab.escaped(want.command) == job[3] then have.command = want.command end
      end
    end
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if want.ensure == "absent" or have.ensure == "absent" or #d.diff > 0 then return d end
    local other = have.refused and "in a file that cron rejects" or have.text ~= render(want) and "with other lines"
    if other then d.diff, d.actions = { { "command", other, want.command } }, { { "update", "updated the cron job" } } end
    return d
  end,

  leaves = function(want, have)
    if want.ensure == "absent" then return { { path = file(want), kind = "absent" } } end
    return { { path = file(want), kind = "file", content = render(want), owner = have and have.owner, mode = "0644" } }
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(file(want)) end
    host.mkdir("/etc/cron.d")
    host.write(file(want), render(want), { mode = "0644", owner = host.stat("/etc/cron.d").owner })
  end,
}
