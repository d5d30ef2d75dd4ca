-- selinux.lua [TYPE|absent]
local selinux_boolean, selinux_context = require "std.selinux_boolean", require "std.selinux_context"
if arg[1] == "absent" then
  selinux_context { "/srv/www(/.*)?", ensure = "absent" }
  selinux_boolean { "httpd_can_network_connect", value = false }
else
  selinux_boolean { "httpd_can_network_connect" }
  selinux_context { "/srv/www(/.*)?", type = arg[1] or "httpd_sys_content_t" }
  selinux_context { "/srv/data", type = "httpd_cache_t", kind = "directory" }
end
