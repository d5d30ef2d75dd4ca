-- The syntax of schedules, variables and commands in crontab(5), for the type cron.

local crontab = {}

-- The fields of a schedule and the largest number of each. cron ignores a file with a larger number, and only its log
-- says so.
local fields = { { "a minute", 59 }, { "an hour", 23 }, { "a day of the month", 31 }, { "a month", 12 }, { "a day of the week", 7 } }

--- Returns the mistake in a schedule, which is five fields or a word such as @daily.
function crontab.schedule_mistake(schedule)
  if not re.test(schedule, [[^(@(reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)|\S+ \S+ \S+ \S+ \S+)$]]) then
    return "want five fields such as 30 3 * * *, or a word such as @daily, got " .. inspect(schedule)
  end
  if str.starts(schedule, "@") then return end
  for i, text in ipairs(str.fields(schedule)) do
    local name, most = unpack(fields[i])
    if not re.test(text, i < 4 and [[^[\d*,/~-]+$]] or [[^[\dA-Za-z*,/~-]+$]]) then return ("want %s, got %s"):format(name, inspect(text)) end
    for number in text:gsub("/%d+", ""):gmatch("%d+") do
      if tonumber(number) > most then return ("want %s of at most %d, got %s"):format(name, most, inspect(text)) end
    end
  end
end

--- Returns the mistake in the variables of a command.
function crontab.environment_mistake(environment)
  for name, value in tbl.pairs(environment) do
    if not re.test(name, [[^\w+$]]) then return "want names of letters, digits and underscores, got " .. inspect(name) end
    if re.test(value, "[\\r\\n\\x00]") then return ("want one line for %s, got %s"):format(name, inspect(value)) end
    if re.test(value, [[\s$]]) then return ("want a value of %s that does not end with a space, which cron drops, got %s"):format(name, inspect(value)) end
    if re.test(value, "^[\\s\"']") and value:find('"', 1, true) and value:find("'", 1, true) then
      return ("want a value of %s that cron can read: one that begins with a space or a quote has quotes of one kind only, got %s"):format(name, inspect(value))
    end
  end
end

--- Returns the value of a variable as cron reads it: in quotes if it is empty or begins with a space or a quote.
--- Nothing can be escaped in them.
function crontab.quoted(value)
  if re.test(value, "^[^\\s\"']") then return value end
  local quote = value:find('"', 1, true) and "'" or '"'
  return quote .. value .. quote
end

--- Returns the value of a variable without the quotes around it.
function crontab.unquoted(text)
  local _, value = text:match([[^(["'])(.*)%1$]])
  return value or text
end

--- Returns a command with its percent signs escaped, at which cron would end it. Escaped ones stay.
function crontab.escaped(command)
  local list, before = {}, ""
  for c in command:gmatch(".") do
    list[#list + 1] = c == "%" and before ~= "\\" and "\\%" or c
    before = c
  end
  return table.concat(list)
end

return crontab
