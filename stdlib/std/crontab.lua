-- The syntax of schedules, variables and commands in crontab(5), for the type cron.

local crontab = {}

-- The fields of a schedule: what is in them, the least and the largest number, and the names of the numbers. cron ignores
-- a file with another value, and reports it only in its log.
local fields = {
  { "minute", 0, 59 }, { "hour", 0, 23 }, { "day of the month", 1, 31 },
  { "month", 1, 12, str.split("jan feb mar apr may jun jul aug sep oct nov dec", " ") },
  { "day of the week", 0, 7, str.split("sun mon tue wed thu fri sat", " ") },
}

-- The number of a text in a field, nil if it is none that the field may have.
local function number(text, field)
  local _, least, most, names = unpack(field)
  for i, name in ipairs(names or {}) do
    if text:lower() == name then return least + i - 1 end
  end
  local n = re.test(text, [[^\d{1,9}$]]) and tonumber(text)
  return n and n >= least and n <= most and n or nil
end

-- The mistake in one entry of a field: *, a number or a range, the last of which and * may have a step.
local function entry_mistake(text, field)
  local name, least, most = unpack(field)
  local range, step = str.cut(text, "/")
  local has_step = str.contains(text, "/")
  -- first~last is a random number of a range, for cronie.
  local ends = re.match(range, "^([^-~]*)([-~])([^-~]*)$")
  local first, last = number(ends and ends[1] or range, field), ends and number(ends[3], field)
  if last == 0 and not tonumber(ends[3]) then last = most end -- sat-sun
  if ends and ends[2] == "~" then first, last = ends[1] == "" and least or first, ends[3] == "" and most or last end
  if range ~= "*" and not (first and (last or not ends)) then
    return ("%s must be %d to %d, got %s"):format(name, least, most, inspect(text))
  end
  if last and first > last then return ("%s has a range that ends before it begins, got %s"):format(name, inspect(text)) end
  if has_step and not (re.test(step, [[^\d{1,4}$]]) and tonumber(step) > 0 and (range == "*" or last)) then
    return ("%s must have a step of at least 1, after * or a range, got %s"):format(name, inspect(text))
  end
end

--- Returns the mistake in a schedule, which is five fields or a word such as @daily.
function crontab.schedule_mistake(schedule)
  if not re.test(schedule, [[^(@(reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)|\S+ \S+ \S+ \S+ \S+)$]]) then
    return "expected five fields such as 30 3 * * *, or a word such as @daily, got " .. inspect(schedule)
  end
  if str.starts(schedule, "@") then return end
  for i, text in ipairs(str.fields(schedule)) do
    for _, entry in ipairs(str.split(text, ",")) do
      local mistake = entry_mistake(entry, fields[i])
      if mistake then return mistake end
    end
  end
end

--- Returns the mistake in the variables of a command.
function crontab.environment_mistake(environment)
  for name, value in tbl.pairs(environment) do
    if not re.test(name, [[^\w+$]]) then return "expected names of letters, digits and underscores, got " .. inspect(name) end
    if re.test(value, "[\\r\\n\\x00]") then return ("expected one line for %s, got %s"):format(name, inspect(value)) end
    if re.test(value, [[\$\{?]] .. name .. [[\b]]) then return ("expected the final value of %s (cron does not expand $%s), got %s"):format(name, name, inspect(value)) end
    if re.test(value, [[\s$]]) then return ("expected a value of %s without a trailing space (cron removes it), got %s"):format(name, inspect(value)) end
    if re.test(value, "^[\\s\"']") and value:find('"', 1, true) and value:find("'", 1, true) then
      return ("expected a value of %s that cron can read (with a leading space or quote, use only one kind of quote), got %s"):format(name, inspect(value))
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
