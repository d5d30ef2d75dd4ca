-- Compares the options of a mounted file system with the wanted ones, for the type mount.

local mount_options = {}

-- The options that the kernel tells as they were given, and their opposites, which it does not tell.
local opposite = { ro = "rw", nosuid = "suid", nodev = "dev", noexec = "exec", noatime = "atime", nodiratime = "diratime" }

--- Returns those of the wanted options that a file system was mounted without.
function mount_options.lacks(options, now)
  return tbl.filter(options, function(o)
    local told = tbl.find(tbl.keys(opposite), function(k) return opposite[k] == o end)
    return opposite[o] and not tbl.contains(now, o) or told and tbl.contains(now, told)
  end)
end

return mount_options
