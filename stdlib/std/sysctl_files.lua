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

-- The file that is read at boot instead of this one, because it has the same name, or nil.
local function masking(file, host)
  for _, dir in ipairs(files.directories) do
    local other = path.join(dir, path.base(file))
    if other == file or not path.dir(file):find("/sysctl.d", 1, true) then return nil end
    if host.stat(other) then return other end
  end
end

-- A name in one of the two ways to write it.
local function canonical(name) return name:match("[./]") == "/" and other_name(name) or name end

-- The files of the directories by the keys that they set, as they were when a directory had its time of change. A plan of 1,000 settings with a file each takes 0.6 s of processor time; 11 s if each reads all files.
local setters, times = {}, nil

-- Returns the files that set the key. /etc/sysctl.conf may be one.
local function setters_of(want, host)
  local now = inspect(tbl.map(files.directories, function(dir) return (host.stat(dir) or {}).mtime or false end))
  if now ~= times then
    setters, times = {}, now
    for _, dir in ipairs(files.directories) do
      for _, file in ipairs(host.glob(dir .. "/*.conf")) do
        for _, l in ipairs((lines.split(host.read(file) or ""))) do
          local m = re.match(l, [[^\s*-?([\w./-]+?)\s*=]])
          local key = m and canonical(m[1])
          if key then
            setters[key] = setters[key] or {}
            setters[key][file] = true
          end
        end
      end
    end
  end
  local key = canonical(want.name)
  setters[key] = setters[key] or {}
  if tbl.contains(files.directories, path.dir(want.path)) then setters[key][want.path] = true end
  local list = tbl.filter(tbl.keys(setters[key]), function(file) return file ~= want.path and file ~= "/etc/sysctl.conf" end)
  return tbl.concat(tbl.sort(list), { "/etc/sysctl.conf" })
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
  local own, instead = path.base(want.path), masking(want.path, host)
  if instead then warn(("sysctl#%s: %s is read at boot instead of %s"):format(want.name, instead, want.path)) end
  -- sysctl --system reads /etc/sysctl.conf last; systemd reads it only if a file of sysctl.d is a link to it.
  for _, file in ipairs(setters_of(want, host)) do
    local later = file ~= want.path and (file == "/etc/sysctl.conf" or path.base(file) > own and not masking(file, host))
    local value = select(2, files.find(later and host.read(file) or "", want.name))
    local text = value and files.words(value) ~= files.words(want.value)
      and ("sysctl#%s: %s is read after %s and sets %s, which takes precedence at boot"):format(want.name, file, want.path, inspect(value))
    if text then warn(text) end
  end
end

return files
