-- Finds what the files that sshd_config(5) and ssh_config(5) include set before a line, for the type kv. Of several values
-- the first one counts.

local lines = require "std.lines"

local includes = {}

-- Settings of which every line counts.
local additive = [[^(?i:port|listenaddress|hostkey|hostcertificate|acceptenv|setenv|sendenv|allow(users|groups)|deny(users|groups)|subsystem|identityfile|certificatefile|(local|remote|dynamic)forward|include)$]]

-- The files that are read before the position in the list of lines of the file: those that lines above it include,
-- and those that sort before it in a directory that others include.
local function before(host, file, list, position)
  local dir, found = path.dir(file), {}
  if str.ends(dir, ".d") then
    found = tbl.filter(host.glob(dir .. "/*.conf"), function(f) return f < file end)
  end
  for i = 1, math.min(position - 1, #list) do
    local m = re.match(list[i], [[(?i)^\s*Include[\s=]+(.*?)\s*$]])
    for _, pattern in ipairs(m and str.fields(m[1]) or {}) do
      pattern = pattern:gsub('"', "")
      if not re.test(pattern, "^[/~]") then pattern = path.join("/etc/ssh", pattern) end
      if str.starts(pattern, "/") then found = tbl.concat(found, host.glob(pattern)) end
    end
  end
  return found
end

--- Returns a warning, nil if there is none, that a value which is read before the position in the list of lines counts
--- in place of the wanted one.
function includes.warning(host, want, key, format, list, position)
  if re.test(key, additive) then return nil end
  local setting = [[^\s*]] .. format.pattern(key) .. [[(?:\s*=\s*|\s+)"?(.*?)"?\s*$]]
  for _, file in ipairs(before(host, want.path, list, position)) do
    local others = lines.split(host.read(file) or "")
    for _, l in ipairs(tbl.slice(others, 1, (lines.first(others, format.block) or #others + 1) - 1)) do
      local m = re.match(l, setting)
      if m and m[1]:lower() == want.value:lower() then return nil end
      if m then return ("%s is read before and sets %s %s, which counts"):format(file, key, inspect(m[1])) end
    end
  end
end

return includes
