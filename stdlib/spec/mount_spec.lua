-- The contract of mount for /etc/fstab. TestMount tries more.
require "std.mount"

local root = "UUID=a / ext4 errors=remount-ro 0 1\n"

suite("mount", {
  starts = {
    none = { files = { ["/etc/fstab"] = root } },
    right = { files = { ["/etc/fstab"] = root .. "LABEL=data /srv/data ext4 noatime 0 2 # mine\n" } },
  },
  wants = {
    data = { "/srv/data", device = "LABEL=data", type = "ext4", options = { "noatime" }, pass = 2 },
    other = { "/srv/data", device = "LABEL=other" },
    known = { "/srv/data", options = { "noatime", "nodev" } },
    absent = { "/srv/data", ensure = "absent" },
  },
  phrases = {
    ["none/data"] = { "added it to /etc/fstab" }, ["right/data"] = {}, ["right/other"] = { "updated /etc/fstab" },
    ["right/known"] = { "updated /etc/fstab" }, ["none/absent"] = {}, ["right/absent"] = { "removed it from /etc/fstab" },
  },
  fails = { ["none/known"] = "device is required" },
})
