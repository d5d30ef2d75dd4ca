-- The options and types of mounted file systems, for the types mount and swap.

local fstab = require "std.fstab"

local mount_options = {}

-- The options that the kernel reports as they were given, and their opposites, which it does not report.
local opposite = { ro = "rw", nosuid = "suid", nodev = "dev", noexec = "exec", noatime = "atime", nodiratime = "diratime" }

--- Returns those of the wanted options that a file system was mounted without.
function mount_options.lacks(options, now)
  return tbl.filter(options, function(o)
    local inverse = tbl.find(tbl.keys(opposite), function(k) return opposite[k] == o end)
    return opposite[o] and not tbl.contains(now, o) or inverse and tbl.contains(now, inverse)
  end)
end

-- File systems that cannot change all options while they are mounted, such as those of a network.
local fixed = [[^(nfs4?|cifs|smb3|9p|ceph|glusterfs|fuse.*)$]]

--- Gives a mounted file system the options of an entry. One that cannot change them is unmounted and mounted.
function mount_options.remount(host, e, point, options)
  local ok, err = pcall(host.run, { "mount", "-o", "remount," .. options, "--", e.device, point })
  if ok then return end
  if not re.test(e.type, fixed) then error(err, 0) end
  host.run { "umount", "--", point }
  host.run { "mount", "-t", e.type, "-o", options, "--", e.device, point }
end

--- Returns the type of the file system at a path, nil if it is not known, and its mount point.
function mount_options.type_at(host, place)
  local found = fstab.mounted(host, place)
  if not found and place ~= "/" then return mount_options.type_at(host, path.dir(place)) end
  return found and found.type, place
end

return mount_options
