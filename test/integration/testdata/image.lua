-- A machine with a service, packages, users and settings: image_test.go builds it, and boots it.
local suffix = (arg[1] or "") ~= "" and "-" .. arg[1] or ""
file.defaults { owner = "root", group = "root", mode = "0644" }
package { "ccm-demo" .. suffix }
if suffix ~= "-pac" then
  package { "ccm-demo" .. suffix .. "-service" }
  service { "ccm-demo" .. suffix, enable = true, subscribe = "file#/etc/motd" }
end
file { "/etc/motd", content = "Built by ccm.\n" }
std.group { "crew", gid = 4000 }
std.user { "app", uid = 4000, group = "crew", shell = "/bin/sh", home = "/srv/app", manage_home = true }
std.unit { "hello.service", content = [[
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'id -u app > /srv/app/started'
[Install]
WantedBy=multi-user.target
]] }
service { "hello" }
std.timer { "tidy", command = "/bin/true", schedule = "daily" }
std.cron { "job", command = "/bin/true", schedule = "5 3 * * *", user = "app" }
std.hostname { "it-image" }
std.timezone { "Europe/Berlin" }
exec { "sum", command = { "sh", "-c", "sha256sum /etc/motd > /srv/app/sum" }, creates = "/srv/app/sum" }
