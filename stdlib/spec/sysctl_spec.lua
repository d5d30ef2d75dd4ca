require "std.sysctl"

suite("sysctl", {
  starts = { nothing = {}, other = { files = { ["/etc/sysctl.d/60-ccm.conf"] = "vm.swappiness=60\n" } } },
  wants = { ten = { "vm.swappiness", value = "10" }, absent = { "vm.swappiness", ensure = "absent" } },
  phrases = { ["other/ten"] = { "changed the kernel setting" }, ["nothing/absent"] = {} },
})
