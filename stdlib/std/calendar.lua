-- Finds mistakes in the calendar times of systemd (systemd.time(7)), for the type timer. What it does not know is left to
-- systemd.

local calendar = {}

local days = str.split("monday tuesday wednesday thursday friday saturday sunday", " ")

-- The mistake in a part of a date or time: *, or numbers and ranges with steps.
local function part_mistake(text, name, least, most)
  for _, entry in ipairs(str.split(text, ",")) do
    local range, step = str.cut(entry, "/")
    if step and not re.test(step, [[^0*[1-9]\d*(\.\d+)?$|^0*\.0*[1-9]\d*$]]) then return ("%s must have a step above 0, got %s"):format(name, inspect(entry)) end
    for _, n in ipairs(range == "*" and {} or str.split(range, "..")) do
      local value = re.test(n, [[^\d{1,9}(\.\d+)?$]]) and tonumber(n)
      if not value or value < least or most and value >= most + 1 then
        return ("%s must be %d to %d, got %s"):format(name, least, most or 9999, inspect(entry))
      end
    end
  end
end

-- The mistake in several parts, each with its name and bounds.
local function parts_mistake(list, bounds)
  for i, text in ipairs(list) do
    local mistake = part_mistake(text, unpack(bounds[i], 1, 3))
    if mistake then return mistake end
  end
end

local clock = { { "hour", 0, 23 }, { "minute", 0, 59 }, { "second", 0, 59 } }
local date = { { "year", 1970 }, { "month", 1, 12 }, { "day", 1, 31 } }

local function is_day(word)
  local name = word:lower()
  return tbl.any(days, function(d) return d == name or d:sub(1, 3) == name end)
end

local shorthand = [[(?i)^(?:minutely|hourly|daily|weekly|monthly|yearly|quarterly|anually|(?:bi-?|semi-?)?annually)$]]

--- Returns the mistake in a time such as Mon *-*-* 03:30, nil if none is found.
function calendar.mistake(text)
  local words = str.fields(text)
  local is_word = #words == 1 and re.test(words[1], [[^[A-Za-z-]+$]])
  if #words == 0 or re.test(words[1], [[^(?:\d+[A-Za-z]*|\*)$]])
    or is_word and not re.test(words[1], shorthand) and not tbl.all(str.split(words[1], "-"), is_day) then
    return "expected a time such as Mon *-*-* 03:30, or a word such as daily"
  end
  if words[1] and re.test(words[1], "^[A-Za-z]{3,9}([,.-]|$)") and #words > 1 and not str.contains(words[2], "/") then
    for _, day in ipairs(re.find_all(words[1], "[A-Za-z]+")) do
      if not is_day(day) and not re.test(words[1], shorthand) then
        return ("no such day of the week: %s"):format(day)
      end
    end
  end
  for _, word in ipairs(words) do
    local mistake
    if re.test(word, [[^[\d*.,/]+:[\d*.,/:]*$]]) then
      mistake = parts_mistake(tbl.slice(str.split(word, ":"), 1, 3), clock)
    elseif re.test(word, [[^[\d*.,/]+-[\d*.,/-]*$]]) and not str.contains(word, "T") then
      local list = tbl.slice(str.split(word, "-"), 1, 3)
      mistake = parts_mistake(list, #list == 2 and { date[2], date[3] } or date)
    end
    if mistake then return mistake end
  end
end

--- Returns the first mistake in several times, with the time.
function calendar.first_mistake(list)
  for _, text in ipairs(list) do
    local mistake = calendar.mistake(text)
    if mistake then return ("%s: %s"):format(inspect(text), mistake) end
  end
end

return calendar
