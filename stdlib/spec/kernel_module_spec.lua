-- The contract of kernel_module for the files that are read at boot.
require "std.kernel_module"

local load, options = "/etc/modules-load.d/loop.conf", "/etc/modprobe.d/loop.conf"

suite("kernel_module", {
  starts = {
    nothing = {},
    right = { files = { [load] = "# Kept by ccm.\nloop\n", [options] = "# Kept by ccm.\noptions loop max_loop=8\n" } },
    other = { files = { [load] = "loop # mine\n", [options] = "# mine\noptions loop max_loop=9\n" } },
  },
  wants = {
    module = { "loop" },
    options = { "loop", options = "max_loop=8" },
    absent = { "loop", ensure = "absent" },
  },
  phrases = {
    ["nothing/module"] = { "added the module" }, ["right/module"] = {}, ["other/module"] = { "updated the module" },
    ["right/options"] = {}, ["other/options"] = { "updated the module" }, ["nothing/absent"] = {}, ["right/absent"] = { "removed the module" },
  },
})
