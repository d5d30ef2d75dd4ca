-- The ranges of numbers in /etc/subuid and /etc/subgid (subuid(5)) that containers of a user may use, for the type user.

local lines = require "std.lines"

local subids, files = {}, { subuids = "/etc/subuid", subgids = "/etc/subgid" }

-- The ranges of a user in a text.
local function ranges(text, user)
  return tbl.sort(tbl.map(tbl.filter(str.lines(text), function(l) return str.starts(l, user .. ":") end), function(l) return (l:sub(#user + 2)) end))
end

--- Returns the mistake in the properties, as validate of a type does.
function subids.mistake(want)
  for _, p in ipairs { "subuids", "subgids" } do
    for _, r in ipairs(want[p] or {}) do
      if not re.test(r, [[^\d+:[1-9]\d*$]]) then return p, "expected a first number and a count such as 100000:65536, got " .. inspect(r) end
    end
  end
end

--- Returns the present values of the wanted properties.
function subids.found(want, host)
  local have = {}
  for p, file in pairs(files) do
    if want[p] then have[p] = ranges(host.read(file) or "", want.name) end
  end
  return have
end

--- Returns the options with which useradd adds no ranges of its own to the files that change writes: ccm undo would take
--- what useradd adds after that for a change by somebody else.
function subids.options(want)
  return tbl.concat(want.subuids and { "--key", "SUB_UID_COUNT=0" } or {}, want.subgids and { "--key", "SUB_GID_COUNT=0" } or {})
end

--- Gives the user the wanted ranges in place of those that it has.
function subids.change(want, host)
  for p, file in pairs(files) do
    local text = host.read(file)
    if want[p] and not tbl.equal(ranges(text or "", want.name), tbl.sort(want[p])) then
      local list, eol = lines.split(text or "")
      list = tbl.filter(list, function(l) return not str.starts(l, want.name .. ":") end)
      for _, r in ipairs(want[p]) do list[#list + 1] = want.name .. ":" .. r end
      host.write(file, lines.join(list, eol))
    end
  end
end

return subids
