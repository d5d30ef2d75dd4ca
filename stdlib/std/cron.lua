-- cron: runs a command again and again, by a file in /etc/cron.d.
--
--   local cron = require "std.cron"
--   cron { "backup", command = "/usr/local/bin/backup --all", schedule = "30 3 * * *", user = "backup" }

local function file(want) return "/etc/cron.d/" .. want.name end

-- The fields of a schedule and the largest number in each. Cron passes over a
-- file with a larger one, and only its log says so.
local fields = { { "a minute", 59 }, { "an hour", 23 }, { "a day of the month", 31 }, { "a month", 12 }, { "a day of the week", 7 } }

-- What is wrong with a schedule of five fields.
local function mistake(schedule)
  for i, text in ipairs(str.fields(schedule)) do
    local name, most = unpack(fields[i])
    if not re.test(text, i < 4 and [[^[\d*,/~-]+$]] or [[^[\dA-Za-z*,/~-]+$]]) then return ("want %s, got %s"):format(name, inspect(text)) end
    for number in text:gsub("/%d+", ""):gmatch("%d+") do
      if tonumber(number) > most then return ("want %s of at most %d, got %s"):format(name, most, inspect(text)) end
    end
  end
end

-- Whether cron passes over a file for who owns it or who may write to it. What is
-- in the directory has to be its owner's: root's, unless this is a test.
local function refused(host, path)
  local found, directory = host.stat(path), host.stat("/etc/cron.d")
  return found.kind == "file" and (found.uid ~= directory.uid or re.test(found.mode, "[2367].?$"))
end

-- A value as cron reads it: an empty one, and one that begins with a space or a
-- quote, in quotes, in which nothing can be escaped.
local function quoted(value)
  if re.test(value, "^[^\\s\"']") then return value end
  local quote = value:find('"', 1, true) and "'" or '"'
  return quote .. value .. quote
end

local function unquoted(text)
  local _, value = text:match([[^(["'])(.*)%1$]])
  return value or text
end

-- A command as crontab has it, where a percent sign would end it. One that is
-- escaped already stays as it is.
local function escaped(command)
  local list, before = {}, ""
  for c in command:gmatch(".") do
    list[#list + 1] = c == "%" and before ~= "\\" and "\\%" or c
    before = c
  end
  return table.concat(list)
end

local function render(want)
  local list = { "# Kept by ccm." }
  for name, value in tbl.pairs(want.environment or {}) do list[#list + 1] = name .. "=" .. quoted(value) end
  list[#list + 1] = str.join({ want.schedule, want.user, escaped(want.command) }, " ")
  return str.join(list, "\n") .. "\n"
end

return ccm.type {
  name = "cron",
  doc = "Runs a command again and again, by a file in /etc/cron.d.",
  commands = {},
  properties = {
    name = { name = true, doc = "The name of the file: letters, digits, hyphens and underscores, because cron passes over others.", example = "backup" },
    command = { doc = "What the shell runs. It is required unless ensure is absent." },
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
    local wrong = not str.starts(want.schedule, "@") and mistake(want.schedule)
    if wrong then return "schedule", wrong end
    if not re.test(want.command, [[^\S[^\r\n]*$]]) then return "command", "want one line that does not begin with a space, got " .. inspect(want.command) end
    if not re.test(want.user, [[^\S+$]]) then return "user", "want the name of a user, got " .. inspect(want.user) end
    for name, value in tbl.pairs(want.environment or {}) do
      if not re.test(name, [[^\w+$]]) then return "environment", "want names of letters, digits and underscores, got " .. inspect(name) end
      if value:find("[\r\n]") then return "environment", ("want one line for %s, got %s"):format(name, inspect(value)) end
      if re.test(value, [[\s$]]) then return "environment", ("want a value of %s that does not end with a space, which cron drops, got %s"):format(name, inspect(value)) end
      if re.test(value, "^[\\s\"']") and value:find('"', 1, true) and value:find("'", 1, true) then
        return "environment", ("want a value of %s that cron can read: one that begins with a space or a quote has quotes of one kind only, got %s"):format(name, inspect(value))
      end
    end
  end,

  status = function(want, host)
    local text = host.read(file(want))
    if not text then return { ensure = "absent" } end
    local have = { ensure = "present", text = text, environment = {}, refused = refused(host, file(want)) }
    for _, l in ipairs(str.lines(text)) do
      local job = re.match(l, [[^\s*(@\w+|[^\s#=]+(?:\s+\S+){4})\s+(\S+)\s+(.*)$]])
      local variable = re.match(l, [[^(\w+)=(.*)$]])
      if variable then
        have.environment[variable[1]] = unquoted(variable[2])
      elseif job then
        have.schedule, have.user, have.command = str.join(str.fields(job[1]), " "), job[2], job[3]
        if want.command and escaped(want.command) == job[3] then have.command = want.command end
      end
    end
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if want.ensure == "absent" or have.ensure == "absent" or #d.diff > 0 then return d end
    local other = have.refused and "in a file that cron refuses" or have.text ~= render(want) and "with other lines"
    if other then d.diff, d.actions = { { "command", other, want.command } }, { { "update", "updated the cron job" } } end
    return d
  end,

  leaves = function(want)
    if want.ensure == "absent" then return { { path = file(want), kind = "absent" } } end
    return { { path = file(want), kind = "file", content = render(want), mode = "0644" } }
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(file(want)) end
    host.mkdir("/etc/cron.d")
    host.write(file(want), render(want), { mode = "0644", owner = host.stat("/etc/cron.d").owner })
  end,
}
