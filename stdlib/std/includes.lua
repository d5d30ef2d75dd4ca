-- Finds what counts in place of a setting in a file that is read with others: for the type kv those of sshd_config(5) and
-- ssh_config(5), of which the first value counts, and for the type ini those of systemd, of which the last one does.

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
    local m = re.match(list[i], [[(?i)^\s*"?Include"?[\s=]+(.*?)\s*$]])
    for _, pattern in ipairs(m and str.fields(m[1]) or {}) do
      pattern = pattern:gsub('"', "")
      if not re.test(pattern, "^[/~]") then pattern = path.join("/etc/ssh", pattern) end
      if str.starts(pattern, "/") then found = tbl.concat(found, host.glob(pattern)) end
    end
  end
  return found
end

-- The links by which systemd starts the sockets of sshd.
local sockets = { "/etc/systemd/system/sockets.target.wants/ssh.socket", "/etc/systemd/system/sockets.target.wants/sshd.socket" }

-- The value that sshd_config(5) has for the key below Match all: it takes precedence over the part above all blocks.
local function below_match_all(list, format, setting)
  local all = false
  for _, l in ipairs(list) do
    if re.test(l, format.block) then all = re.test(l, [[(?i)^\s*"?Match"?[\s=]+"?all"?\s*(?:#.*)?$]]) end
    local m = all and re.match(l, setting)
    if m then return m[1] end
  end
end

--- Returns a warning, nil if there is none, that something else counts than the wanted value behind the position in the
--- list of lines.
function includes.warning(host, want, key, format, list, position)
  if want.path:find("sshd_config", 1, true) and re.test(key, "^(?i:port|listenaddress)$") then
    local socket = tbl.find(sockets, host.stat)
    return socket and ("%s listens instead of sshd (set ListenStream in a drop-in; on Ubuntu run daemon-reload and restart it)"):format(path.base(socket)) or nil
  end
  if re.test(key, additive) then return nil end
  local setting = [[^\s*]] .. format.pattern(key) .. [[(?:\s*=\s*|\s+)"?(.*?)"?\s*$]]
  for _, file in ipairs(before(host, want.path, list, position)) do
    local text = host.read(file) or ""
    local others, stop = lines.split(text), lines.matching(text, format.block, 1)[1]
    for _, l in ipairs(tbl.slice(others, 1, (stop or #others + 1) - 1)) do
      local m = re.match(l, setting)
      if m and m[1]:lower() == want.value:lower() then return nil end
      if m then return ("%s is read first and sets %s %s, which takes precedence"):format(file, key, inspect(m[1])) end
    end
  end
  local value = want.path:find("sshd_config", 1, true) and below_match_all(list, format, setting)
  if value and value:lower() ~= want.value:lower() then return ("%s sets %s %s below Match all, which takes precedence"):format(want.path, key, inspect(value)) end
end

-- Settings of systemd of which every line counts.
local lists = [[^(?:DNS|FallbackDNS|NTP|FallbackNTP|Domains|DefaultEnvironment|ManagerEnvironment)$]]

-- The files of a directory such as /etc/systemd/journald.conf.d that are read behind a file, by their name. One in /etc
-- takes the place of one with its name in /usr/lib.
local function behind(host, dir, name)
  local found = {}
  for _, root in ipairs { "/usr/lib", "/usr/local/lib", "/run", "/etc" } do
    for _, file in ipairs(host.glob(root .. "/systemd/" .. dir .. "/*.conf")) do found[path.base(file)] = file end
  end
  return tbl.map(tbl.filter(tbl.sort(tbl.keys(found)), function(n) return (name or "") < n end), function(n) return found[n] end)
end

--- Returns a warning if a file that systemd reads behind this one, such as one in /etc/systemd/journald.conf.d, sets
--- another value than the wanted one.
function includes.overridden(host, want, key)
  local m = re.match(want.path, [[^/etc/systemd/([^/]+\.conf)(?:(\.d)/([^/]+\.conf))?$]])
  if not m or not want.value or want.among or want.ensure == "absent" or re.test(key, lists) then return nil end
  local file, value
  for _, f in ipairs(behind(host, m[1] .. ".d", m[3])) do
    local section
    for _, l in ipairs((lines.split(host.read(f) or ""))) do
      local header, setting = re.match(l, [=[^\s*\[(.*)\]\s*$]=]), re.match(l, [[^\s*]] .. re.escape(key) .. [[\s*=\s*(.*?)\s*$]])
      if header then section = header[1] end
      if setting and section == want.section then file, value = f, setting[1] end
    end
  end
  if file and value ~= want.value then return ("%s is read later and sets %s %s, which takes precedence"):format(file, key, inspect(value)) end
end

--- Returns a warning if a line below the parts of the wanted section sets another value, for readers that ignore sections,
--- such as PHP: the last line of the file counts. extension and zend_extension may occur several times.
function includes.below(want, key, list, parts, setting)
  local last = parts[#parts]
  if not (last and want.value and want.ensure == "present") or want.among or key:find("extension$") then return nil end
  for n = #list, last.to + 1, -1 do
    local m = re.match(list[n], setting)
    if m and m[2] == want.value then return nil end
    if m then return ("line %d of %s sets %s %s, which takes precedence"):format(n, want.path, key, inspect(m[2])) end
  end
end

return includes
