-- Reads the files that set kernel parameters at boot, for the type sysctl.

local lines = require "std.lines"

local files = {}

--- Returns the words of a value with one blank between them: so values are compared.
function files.words(value) return value and str.join(str.fields(value), " ") end

-- The name with dots and slashes exchanged: another way to write the same key (sysctl.d(5)).
local function other_name(name) return (name:gsub("[./]", { ["."] = "/", ["/"] = "." })) end

--- Returns the positions of the lines of a text that set the key, in either way to write it, and the value of the last
--- one. The text is split only if it contains the key.
function files.find(text, name)
  local found, value = {}, nil
  local other = other_name(name)
  local at = tbl.concat(lines.having(text, name), other ~= name and lines.having(text, other) or {})
  local pattern = #at > 0 and [[^\s*-?(?:]] .. re.escape(name) .. "|" .. re.escape(other) .. [[)\s*=\s*(.*?)\s*$]]
  for _, i in ipairs(tbl.sort(tbl.unique(at))) do
    local m = re.match(lines.of(text)[i], pattern)
    if m then
      found[#found + 1], value = i, m[1]
    end
  end
  return found, value
end

-- A number as the kernel reads it: 0x10 is 16, 010 is 8.
local function number(word)
  local digits = re.match(word, [[^0[xX]([0-9a-fA-F]+)$]])
  if digits then return tonumber(digits[1], 16) end
  return re.test(word, [[^0[0-7]+$]]) and tonumber(word, 8) or word
end

--- Reports whether the kernel has a value, which it writes in words and decimal numbers.
function files.fits(running, value)
  if files.words(running) == files.words(value) then return true end
  local have, want = str.fields(running), str.fields(value)
  for i, word in ipairs(want) do
    if have[i] ~= tostring(number(word)) then return false end
  end
  return #have == #want
end

--- The directories of which *.conf is read at boot, in the order in which a name counts.
files.directories = { "/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d" }

-- The files that are read at boot, in order: by name, and of several with one name the first. sysctl --system reads
-- /etc/sysctl.conf last; systemd reads it only if a file of sysctl.d is a link to it.
local function in_order(host)
  local by_name = {}
  for _, dir in ipairs(files.directories) do
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

-- Warns once.
local function warn(text)
  if given[text] then return end
  given[text] = true
  log.warn(text)
end

--- Warns if the file is not read at boot, or one that is read later sets another value.
function files.warn(want, host)
  local own = path.base(want.path)
  for _, dir in ipairs(files.directories) do
    local masking = path.join(dir, own)
    if masking == want.path then break end
    if path.dir(want.path):find("/sysctl.d", 1, true) and host.stat(masking) then
      warn(("sysctl#%s: %s is read at boot instead of %s"):format(want.name, masking, want.path))
    end
  end
  for _, file in ipairs(in_order(host)) do
    local later = file ~= want.path and (file == "/etc/sysctl.conf" or path.base(file) > own)
    local value = select(2, files.find(later and host.read(file) or "", want.name))
    local text = value and files.words(value) ~= files.words(want.value)
      and ("sysctl#%s: %s is read after %s and sets %s, which takes precedence at boot"):format(want.name, file, want.path, inspect(value))
    if text then warn(text) end
  end
end

return files
