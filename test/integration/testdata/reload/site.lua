-- A configuration and the service that reads it: site.lua CONTENT ON_CHANGE [ENVIRONMENT]
local content, on_change, environment = arg[1], arg[2], arg[3]
file.defaults { owner = "root", group = "root", mode = "0644" }
local dropin = "/etc/systemd/system/it.service.d"

local changes = {}
if environment then
  file { dropin, ensure = "directory", mode = "0755" }
  table.insert(changes, file { dropin .. "/env.conf", content = "[Service]\nEnvironment=" .. environment .. "\n" })
end
table.insert(changes, file { "/etc/it.conf", content = content .. "\n" })

service { "it", on_change = on_change, subscribe = changes }
