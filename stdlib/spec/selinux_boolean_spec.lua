-- The contract of selinux_boolean for the local changes of a policy.
require "std.selinux_boolean"

local config = { ["/etc/selinux/config"] = "SELINUXTYPE=targeted\n" }

suite("selinux_boolean", {
  starts = {
    ["no SELinux"] = {},
    policy = { files = config },
    on = { files = tbl.merge(config, { ["/var/lib/selinux/targeted/active/booleans.local"] = "httpd_can=1\n" }) },
  },
  wants = { on = { "httpd_can" }, off = { "httpd_can", value = false } },
  phrases = { ["policy/on"] = { "turned it on" }, ["policy/off"] = { "turned it off" }, ["on/on"] = {}, ["on/off"] = { "turned it off" } },
  fails = { ["no SELinux/on"] = "SELinux is not installed", ["no SELinux/off"] = "SELinux is not installed" },
})
