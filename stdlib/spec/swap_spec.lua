-- The contract of swap for /etc/fstab. TestSwap tries swap in use.
require "std.swap"

local root = "UUID=a / ext4 errors=remount-ro 0 1\n"

suite("swap", {
  starts = {
    none = { files = { ["/etc/fstab"] = root } },
    right = { files = { ["/etc/fstab"] = root .. "LABEL=swap\tnone swap sw,pri=5 0 0 # mine\n" } },
    twice = { files = { ["/etc/fstab"] = "LABEL=swap none swap\n" .. root .. "LABEL=swap none swap sw,pri=5 0 0\n" } },
    mounted = { files = { ["/etc/fstab"] = root .. "LABEL=swap /srv ext4\n" } },
  },
  wants = {
    area = { "LABEL=swap" },
    options = { "LABEL=swap", options = { "pri=9" } },
    file = { "/swap file", size = "2G" },
    absent = { "LABEL=swap", ensure = "absent" },
  },
  phrases = {
    ["none/area"] = { "added it to /etc/fstab" }, ["right/area"] = {}, ["right/options"] = { "updated /etc/fstab" }, ["twice/area"] = { "updated /etc/fstab" },
    ["mounted/area"] = { "added it to /etc/fstab" }, ["none/absent"] = {}, ["mounted/absent"] = {}, ["right/absent"] = { "removed it from /etc/fstab" }, ["twice/absent"] = { "removed it from /etc/fstab" },
    ["right/file"] = { "added it to /etc/fstab" },
  },
})
