-- The contract of selinux_context for the local changes of a policy.
require "std.selinux_context"

local config = { ["/etc/selinux/config"] = "SELINUXTYPE=targeted\n" }
local function with(line) return { files = tbl.merge(config, { ["/etc/selinux/targeted/contexts/files/file_contexts.local"] = line }) } end

suite("selinux_context", {
  starts = {
    ["no SELinux"] = {},
    policy = { files = config },
    right = with "/srv/www(/.*)?    system_u:object_r:httpd_sys_content_t:s0\n",
    other = with "/srv/www(/.*)?    system_u:object_r:etc_t:s0\n",
  },
  wants = {
    any = { "/srv/www(/.*)?", type = "httpd_sys_content_t" },
    directory = { "/srv/www(/.*)?", type = "httpd_sys_content_t", kind = "directory" },
    absent = { "/srv/www(/.*)?", ensure = "absent" },
  },
  phrases = {
    ["policy/any"] = { "added the pattern" }, ["right/any"] = {}, ["other/any"] = { "updated the pattern" },
    ["right/directory"] = { "added the pattern" }, ["policy/absent"] = {}, ["right/absent"] = { "removed the pattern" },
  },
  fails = {
    ["no SELinux/any"] = "SELinux is not installed", ["no SELinux/directory"] = "SELinux is not installed",
    ["no SELinux/absent"] = "SELinux is not installed",
  },
})
