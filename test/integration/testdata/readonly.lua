-- Resources that work where /usr is read-only: images_guide_test.go runs them.
file.defaults { owner = "root", group = "root", mode = "0644" }
file { "/etc/motd", content = "Built by ccm.\n" }
file { "/var/lib/app", ensure = "directory", mode = "0755" }
std.user { "app", uid = 4000, home = "/var/home/app" }
std.group { "crew", gid = 4001 }
std.unit { "hello.service", content = [[
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
[Install]
WantedBy=multi-user.target
]] }
service { "hello", enable = true }
std.timer { "tidy", command = "/bin/true", schedule = "daily" }
std.cron { "job", command = "/bin/true", schedule = "5 3 * * *", user = "root" }
std.timezone { "Europe/Berlin" }
