-- cron: runs a command again and again, by a file in /etc/cron.d.
--
--   local cron = require "std.cron"
--   cron { "backup", command = "/usr/local/bin/backup --all", schedule = "30 3 * * *", user = "backup" }

local function file(want) return "/etc/cron.d/" .. want.name end

local function render(want)
  local list = { "# Kept by ccm." }
  for name, value in tbl.pairs(want.environment or {}) do list[#list + 1] = name .. "=" .. value end
  list[#list + 1] = str.join({ want.schedule, want.user, want.command }, " ")
  return str.join(list, "\n") .. "\n"
end

return ccm.type {
  name = "cron",
  doc = "Runs a command again and again, by a file in /etc/cron.d.",
  properties = {
    name = { name = true, doc = "The name of the file: letters, digits, hyphens and underscores, because cron passes over others.", example = "backup" },
    command = { doc = "What the shell runs. A percent sign is written \\%. It is required unless ensure is absent." },
    schedule = { doc = "When it is run, as in crontab(5): five fields, or a word such as @daily. It is required unless ensure is absent.", example = "30 3 * * *" },
    user = { default = "root", doc = "The user that runs it." },
    environment = { type = "map", doc = "Variables that the command sees, such as MAILTO." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether there is to be such a file." },
  },
  phrases = { create = "created the cron job", update = "updated the cron job", remove = "removed the cron job" },

  validate = function(want)
    if not re.test(want.name, "^[A-Za-z0-9_-]+$") then return "name", "want letters, digits, hyphens and underscores, got " .. inspect(want.name) end
    if want.ensure == "absent" then return end
    if not want.command then return "command", "is required unless ensure is absent" end
    if not re.test(want.schedule or "", [[^(@(reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)|\S+ \S+ \S+ \S+ \S+)$]]) then
      return "schedule", "want five fields such as 30 3 * * *, or a word such as @daily, got " .. inspect(want.schedule)
    end
    if want.command:find("[\r\n]") then return "command", "want one line" end
  end,

  status = function(want, host)
    local text = host.read(file(want))
    if not text then return { ensure = "absent" } end
    local have = { ensure = "present", text = text, environment = {} }
    for _, l in ipairs(str.lines(text)) do
      local job = re.match(l, [[^\s*(@\w+|[^\s#=]+(?:\s+\S+){4})\s+(\S+)\s+(.*)$]])
      local variable = re.match(l, [[^(\w+)=(.*)$]])
      if variable then
        have.environment[variable[1]] = variable[2]
      elseif job then
        have.schedule, have.user, have.command = str.join(str.fields(job[1]), " "), job[2], job[3]
      end
    end
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if want.ensure == "present" and #d.diff == 0 and have.text ~= render(want) then
      d.diff, d.actions = { { "command", "with other lines", want.command } }, { { "update", "updated the cron job" } }
    end
    return d
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(file(want)) end
    host.mkdir("/etc/cron.d")
    host.write(file(want), render(want), { mode = "0644" })
  end,
}
