-- Two files that one service listens to, and a drop-in for its unit: however many
-- of them change, it is restarted once.
--   site.lua VERSION
file.defaults { owner = "root", group = "root", mode = "0644" }

file { "/etc/systemd/system/it.service.d", ensure = "directory", mode = "0755" }
file { "/etc/systemd/system/it.service.d/colour.conf", content = "[Service]\nEnvironment=COLOUR=" .. arg[1] .. "\n" }
file { "/etc/it.conf", content = "version = " .. arg[1] .. "\n" }

service {
  "it",
  subscribe = { "file#/etc/systemd/system/it.service.d/colour.conf", "file#/etc/it.conf" },
}
