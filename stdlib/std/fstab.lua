-- Reads /etc/fstab and the mounted file systems, for the types mount and swap.

local devices, lines = require "std.devices", require "std.lines"
local safepath, systemd = require "std.safepath", require "std.systemd"

local fstab = { path = "/etc/fstab" }

-- A field in the form of fstab(5) and the kernel, with separators in octal.
local function escaped(text) return (text:gsub("[ \t\n\\]", function(c) return ("\\%03o"):format(c:byte()) end)) end
local function unescaped(text) return (text:gsub("\\([0-7][0-7][0-7])", function(o) return string.char(tonumber(o, 8)) end)) end

-- The fields of a line. Only spaces and tabs separate them.
local function fields(text) return re.find_all(text or "", "[^ \\t]+") end

-- The fields of a line of fstab, nil if it is not for the mount point or, if swaps are given, for one of these devices.
local function entry(line, point, swaps)
  local f = fields(line)
  if #f < 3 or str.starts(f[1], "#") then return nil end
  if not swaps and unescaped(f[2]) ~= point or swaps and (f[3] ~= "swap" or not tbl.contains(swaps, unescaped(f[1]))) then return nil end
  return { device = unescaped(f[1]), type = f[3], options = str.split(unescaped(f[4] or "defaults"), ","), dump = tonumber(f[5] or 0), pass = tonumber(f[6] or 0) }
end

-- The line of an entry.
local function line(e, point)
  return str.join({ escaped(e.device), escaped(point), e.type, escaped(str.join(e.options, ",")), e.dump, e.pass }, " ")
end

--- Returns the wanted entry: a property that is not given keeps its value, or has its default if there is no entry.
function fstab.wanted(want, found)
  return tbl.merge({ type = "auto", options = { "defaults" }, dump = 0, pass = 0 }, found or {}, tbl.pick(want, { "device", "type", "options", "dump", "pass" }))
end

--- Returns the text of fstab with the wanted entry, and the present entry. The last of several for a mount point
--- counts. swaps are the devices that name a swap area, which has no mount point.
function fstab.edited(want, text, swaps)
  local list, eol = lines.split(text)
  local kept, at, found = {}, nil, nil
  for _, l in ipairs(list) do
    local e = entry(l, want.name, swaps)
    if e then
      found, at = e, at or #kept + 1
    else
      kept[#kept + 1] = l
    end
  end
  local present, e = want.ensure ~= "absent", fstab.wanted(want, found)
  if not found and not present or present and (not e.device or #kept + 1 == #list and tbl.equal(e, found)) then return text, found end
  if present then table.insert(kept, at or #kept + 1, line(e, swaps and "none" or want.name)) end
  return lines.join(kept, eol), found
end

--- Returns the file system mounted at the point, nil if there is none, and a mount point below it, or nil. The last of
--- several file systems covers the others (proc_pid_mountinfo(5)).
function fstab.mounted(host, point)
  local found, inner = nil, nil
  for _, l in ipairs(str.lines(host.read("/proc/self/mountinfo") or "")) do
    local before, after = str.cut(l, " - ")
    local at, what = fields(before), fields(after)
    if at[5] == escaped(point) then
      found = { type = what[1], device = unescaped(what[2]), options = tbl.concat(str.split(at[6], ","), str.split(what[3] or "", ",")) }
    elseif str.starts(at[5] or "", escaped(point) .. "/") then
      inner = unescaped(at[5])
    end
  end
  return found, inner
end

--- Writes the text of fstab, of which units are made.
function fstab.write(host, text)
  host.write(fstab.path, text)
  systemd.ctl(host, "daemon-reload")
end

--- Returns the devices in the lines of fstab that name the swap area. On a machine that is only a directory the text has
--- to be the same.
function fstab.swaps(host, text, device)
  local list = {}
  for _, l in ipairs(str.lines(text)) do
    local f = fields(l)
    local d = f[3] == "swap" and not str.starts(f[1], "#") and unescaped(f[1])
    if d and (d == device or host.root == "/" and devices.place(host, d) == devices.place(host, device)) then list[#list + 1] = d end
  end
  return list
end

--- Whether the mounted file system is that of an entry. If it has no device, as tmpfs, the type decides.
function fstab.is_same(host, e, now, point)
  if now.type == "autofs" then return tbl.contains(e.options, "x-systemd.automount") end -- it is mounted when it is used
  if tbl.contains(e.options, "bind") or tbl.contains(e.options, "rbind") then
    return select(2, host.query { "test", e.device, "-ef", point, check = false }) == 0
  end
  if e.type ~= "auto" and not str.starts(now.type, e.type) then return false end
  if not re.test(e.device, "^(/dev/|[A-Z]+=)") then return true end
  return devices.place(host, e.device) == devices.place(host, now.device)
end

-- The paths of an entry that mount resolves: the mount point, the device, and the layers of an overlay.
local function paths(name, e)
  local list = { name, e.device and str.starts(e.device, "/") and e.device or nil }
  for _, o in ipairs(e.options) do
    local key, value = o:match("^([%l+]+)=(.*)$")
    if re.test(key or "", [[^(lowerdir|datadir)\+?$|^(upperdir|workdir)$]]) then
      list = tbl.concat(list, tbl.filter(str.split(value, ":"), function(p) return str.starts(p, "/") end))
    end
  end
  return list
end

--- Refuses paths in which a user could put a link: mount(8), umount(8), and systemd at boot follow links.
function fstab.refuse_users_paths(host, name, e)
  for _, p in ipairs(paths(name, e)) do
    local weakness = host.root == "/" and safepath.weakness(host, p)
    if weakness then error(("%s, so a link could redirect mount on the way to %s (use a path whose directories all belong to root)"):format(weakness, p), 0) end
  end
end

return fstab
