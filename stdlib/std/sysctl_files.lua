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
  local pattern = [[^\s*-?(?:]] .. re.escape(name) .. "|" .. re.escape(other) .. [[)\s*=\s*(.*?)\s*$]]
  local at = tbl.concat(lines.matching(text, re.escape(name)), other ~= name and lines.matching(text, re.escape(other)) or {})
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

local function times_of(host) return inspect(tbl.map(files.directories, function(dir) return (host.stat(dir) or {}).mtime or false end)) end

local function note(name, file)
  local key = canonical(name)
  setters[key] = setters[key] or {}
  setters[key][file] = true
end

--- Writes the file of a setting that warn was called for. No other file has to be read again because of that. A run that
--- adds 2,000 settings to one file takes 4.4 s of processor time; 37 s otherwise.
function files.write(want, host, text)
  local known = times_of(host) == times
  host.mkdir(path.dir(want.path))
  host.write(want.path, text)
  times = known and times_of(host) or times
end

-- Returns the files that set the key. /etc/sysctl.conf may be one.
local function setters_of(want, host)
  local now = times_of(host)
  if now ~= times then
    setters, times = {}, now
    for _, dir in ipairs(files.directories) do
      for _, file in ipairs(host.glob(dir .. "/*.conf")) do
        for _, m in ipairs(re.match_all(host.read(file) or "", [[(?m)^[ \t]*-?([\w./-]+?)[ \t]*=]])) do note(m[1], file) end
      end
    end
  end
  if tbl.contains(files.directories, path.dir(want.path)) then note(want.name, want.path) end
  local list = tbl.filter(tbl.keys(setters[canonical(want.name)] or {}), function(file) return file ~= want.path and file ~= "/etc/sysctl.conf" end)
  return tbl.concat(tbl.sort(list), { "/etc/sysctl.conf" })
end

-- Warns once: a resource is looked at several times.
local given = {}
local function warn(text)
  if not given[text] then log.warn(text) end
  given[text] = true
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
