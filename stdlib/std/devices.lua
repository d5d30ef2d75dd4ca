-- Finds block devices and swap areas, for the types mount and swap.

local safepath = require "std.safepath"

local devices = {}

--- Returns the path of a device without links, such as those of udev.
function devices.place(host, device)
  local tag, id = device:match('^(%u+)="?([^"]*)"?$')
  return str.trim((host.query { "readlink", "-m", "--", tag and ("/dev/disk/by-%s/%s"):format(tag:lower(), id) or device }))
end

--- Whether a swap area is in use (proc_swaps(5)).
function devices.is_swap_used(host, device)
  return tbl.any(tbl.slice(str.lines(host.read "/proc/swaps" or ""), 2), function(l)
    return devices.place(host, (l:match("^%S+") or ""):gsub("\\([0-7]+)", function(o) return string.char(tonumber(o, 8)) end)) == devices.place(host, device)
  end)
end

-- Types of file systems on a device that is a path. Others have a name there, such as tmpfs.
local on_device = [[^(auto|ext[234]|xfs|btrfs|f2fs|vfat|exfat|ntfs3?|iso9660|udf|squashfs|erofs|swap)$]]

--- Fails if the device of an entry does not exist. With nofail among the options, mount would not report that.
function devices.check(host, e)
  local device, path = e.device or "", nil
  local tag, id = device:match('^(%u+)="?([^"]*)"?$')
  if tag and host.which "findfs" then
    if select(2, host.query { "findfs", tag .. "=" .. id, check = false }) == 0 then return end
  elseif tag then
    path = ("/dev/disk/by-%s/%s"):format(tag:lower(), id)
  elseif str.starts(device, "/dev/") or tbl.any(e.options, function(o) return re.test(o, "^r?bind$") end) or re.test(e.type, on_device) then
    path = device
  end
  if path and (not str.starts(path, "/") or safepath.exists(host, path)) or not path and not tag then return end
  error(("no such device %s"):format(device), 0)
end

return devices
