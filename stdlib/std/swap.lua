-- swap: keeps a swap file or partition in use, now and at boot.
--
--   std.swap { "/swapfile", size = "2G" }
--   std.swap { "LABEL=swap", options = { "pri=10" } }

local devices, fstab, mount_options = require "std.devices", require "std.fstab", require "std.mount_options"

-- The line of fstab as it is wanted: the text with it, and what is there now. A line that names the same device in
-- another way stays so.
local function edited(want, have)
  local line = { name = want.name, ensure = want.ensure, type = "swap", options = want.options, device = #have.names == 0 and want.name or nil }
  return fstab.edited(line, have.text, have.names)
end

-- The actions for the running system, each with its description. A machine that is only a directory has none.
local function tasks(want, have)
  if have.used == nil or have.used == (want.ensure == "present") then return {} end
  if have.used then return { { "off", "deactivated it" } } end
  return tbl.concat(have.missing and { { "make", "created the file" } } or {}, { { "on", "activated it" } })
end

local unfit = { "overlay", "ramfs", "tmpfs", "zfs" } -- file systems that cannot hold swap files

-- Whether the swap area is missing and can be made. Fails if it is not there, or holds something else.
local function is_missing(want, host)
  if not str.starts(want.name, "/") or str.starts(want.name, "/dev/") then
    devices.check(host, { device = want.name, type = "swap", options = {} })
  elseif not host.stat(want.name) then
    if not want.size then error(("%s does not exist (size = \"2G\" creates it)"):format(want.name), 0) end
    if not host.is_directory(path.dir(want.name)) then error(("directory %s does not exist (declare it before the swap file)"):format(path.dir(want.name)), 0) end
    local kind, point = mount_options.type_at(host, path.dir(want.name))
    if tbl.contains(unfit, kind) then error(("the kernel cannot swap to a file on %s, which is %s (use another file system)"):format(point, kind), 0) end
    return true
  end
  if not host.which "blkid" then return false end
  local kind = str.trim((host.query { "blkid", "-p", "-s", "TYPE", "-o", "value", "--", devices.place(host, want.name), check = false }))
  if kind ~= "swap" then
    error(("%s: expected a swap area, found %s (mkswap creates one, and destroys what is there)"):format(want.name, kind == "" and "unknown data" or kind), 0)
  end
  return false
end

return ccm.type {
  name = "swap",
  doc = "Manages a swap file or partition: now with swapon, and at boot by a line in /etc/fstab. A missing file is created if size is given; nothing else is ever formatted. With absent, the file is kept: remove it with file { PATH, ensure = \"absent\" } after this. ccm undo restores /etc/fstab, but does not run swapoff.",
  commands = { "swapon", "swapoff", "mkswap", "fallocate", "chattr", "blkid", "readlink", "findfs", "systemctl" },
  properties = {
    name = { name = true, one_line = true, doc = "The path of a file or device, LABEL= or UUID=. Only root may be able to replace the path.", example = "/swapfile" },
    size = { doc = "The size of a new file, with K, M, G or T for powers of 1024. An existing file keeps its size.", example = "2G" },
    options = { type = "list", one_line = true, doc = "The options in fstab, such as pri=10, used by the next swapon. Default: those in fstab, or defaults.", example = "pri=10" },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "present: active and in fstab; absent: neither." },
  },

  validate = function(want)
    if not re.test(want.name, [[^(/[^\r\n]+|(LABEL|UUID|PARTLABEL|PARTUUID)=\S+)$]]) then return "name", "expected a path, LABEL= or UUID=, got " .. inspect(want.name) end
    if want.size and not re.test(want.size, [[^[1-9]\d*[KMGT]$]]) then return "size", "expected a size such as 2G or 512M, got " .. inspect(want.size) end
    if want.size and not re.test(want.name, "^/") or want.size and str.starts(want.name, "/dev/") then return "size", "applies only to files, and " .. want.name .. " is a device" end
    for _, o in ipairs(want.options or {}) do
      if not re.test(o, [[^[^,\s]+$]]) then return "options", "expected one option per item, such as pri=10, got " .. inspect(o) end
    end
  end,

  status = function(want, host)
    local have = { text = host.read(fstab.path) or "", size = want.size }
    have.names = fstab.swaps(host, have.text, want.name)
    local _, found = edited(want, have)
    have.options = found and found.options or nil
    if host.root == "/" and host.live then
      if str.starts(want.name, "/") then fstab.refuse_users_paths(host, want.name, { options = {} }) end
      have.used = devices.is_swap_used(host, want.name)
      have.missing = want.ensure == "present" and not have.used and is_missing(want, host)
    end
    local on = have.used or have.used == nil and found ~= nil
    have.ensure = found and (on and "present" or "in fstab, but not in use") or on and "in use, but not in fstab" or "absent"
    return have
  end,

  decide = function(want, have, compare)
    local d, now = compare(), (edited(want, have))
    d.actions = tasks(want, have)
    if now ~= have.text then
      table.insert(d.actions, { "update_fstab", want.ensure == "absent" and "removed it from /etc/fstab" or #have.names > 0 and "updated /etc/fstab" or "added it to /etc/fstab" })
      if #d.diff == 0 then d.diff = { { "ensure", "twice in fstab", want.ensure } } end
      d.text = { path = fstab.path, have = have.text, want = now }
    end
    return d
  end,

  leaves = function(want, have)
    local list = { { path = fstab.path, kind = have and "file", content = have and (edited(want, have)) } }
    if not have or #tasks(want, have) > 0 then list[2] = { path = "/proc/swaps" } end
    if str.starts(want.name, "/") and (not have or have.missing) then table.insert(list, { path = want.name, kind = have and "file" }) end
    return list, "commands"
  end,

  programs = function(action) return ({ make = { "fallocate", "mkswap" }, on = { "swapon" }, off = { "swapoff" } })[action] end,

  recreate = require("std.recreate").swap,

  perform = function(action, want, have, host)
    if action == "make" then
      host.write(want.name, "", { mode = "0600" })
      local ok, err = pcall(function()
        if host.which "chattr" then host.run { "chattr", "+C", "--", want.name, check = false } end -- btrfs swaps to such files only
        host.run { "fallocate", "-l", want.size, "--", want.name }
        host.run { "mkswap", "--", want.name }
      end)
      if not ok then host.remove(want.name) error(err, 0) end
    elseif action == "on" then
      local options = str.join(tbl.filter(want.options or have.options or {}, function(o) return not re.test(o, "^(sw|defaults|nofail|x-.*)$") end), ",")
      local ok, err = pcall(host.run, tbl.concat({ "swapon" }, options ~= "" and { "-o", options } or {}, { "--", want.name }))
      if not ok and have.missing then host.remove(want.name) end
      if not ok then error(err, 0) end
    elseif action == "off" then
      host.run { "swapoff", "--", want.name }
    else
      fstab.write(host, (edited(want, have)))
    end
  end,
}
