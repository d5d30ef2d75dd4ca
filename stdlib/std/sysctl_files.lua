-- Reads the files that set kernel parameters at boot, for the type sysctl.

local lines = require "std.lines"

local files = {}

--- Returns the words of a value with one blank between them: so values are compared.
function files.words(value) return value and str.join(str.fields(value), " ") end

--- Returns the positions of the lines that set the key, and the value of the last one. Dots and slashes of a name may be
--- exchanged (sysctl.d(5)).
function files.find(list, name)
  local found, value = {}, nil
  local pattern = [[^\s*-?]] .. re.escape(name) .. [[\s*=\s*(.*?)\s*$]]
  for i, l in ipairs(list) do
    local m = l:find(name, 1, true) and re.match(l, pattern)
    if m then
      found[#found + 1], value = i, m[1]
    end
  end
  return found, value
end

-- The name with dots and slashes exchanged: another way to write the same key.
local function other_name(name) return (name:gsub("[./]", { ["."] = "/", ["/"] = "." })) end

-- The files that are read at boot, in order: by name, and of several with one name the first. sysctl --system reads
-- /etc/sysctl.conf last; systemd reads it only if a file of sysctl.d is a link to it.
local function in_order(host)
  local by_name = {}
  for _, dir in ipairs { "/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d" } do
    for _, file in ipairs(host.glob(dir .. "/*.conf")) do
      local name = path.base(file)
      by_name[name] = by_name[name] or file
    end
  end
  local list = tbl.map(tbl.sort(tbl.keys(by_name)), function(name) return by_name[name] end)
  return tbl.concat(list, { "/etc/sysctl.conf" })
end

-- The warnings that were given: a resource is looked at several times.
local given = {}

--- Warns if a file that is read later sets another value.
function files.warn(want, host)
  local own = path.base(want.path)
  for _, file in ipairs(in_order(host)) do
    local later = file ~= want.path and (file == "/etc/sysctl.conf" or path.base(file) > own)
    local list = later and lines.split(host.read(file) or "") or {}
    local value = select(2, files.find(list, want.name)) or select(2, files.find(list, other_name(want.name)))
    local text = value and files.words(value) ~= files.words(want.value)
      and ("sysctl#%s: %s is read after %s and sets %s, which holds after a boot"):format(want.name, file, want.path, inspect(value))
    if text and not given[text] then
      given[text] = true
      log.warn(text)
    end
  end
end

return files
