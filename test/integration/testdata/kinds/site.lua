-- Units of several kinds, written and started in one run.
file.defaults { owner = "root", group = "root", mode = "0644" }
local dir = "/etc/systemd/system/"

file { dir .. "job.service", content = [[
[Service]
Type=oneshot
ExecStart=/bin/touch /run/job
]] }

file { dir .. "job.timer", content = [[
[Timer]
OnCalendar=yearly
[Install]
WantedBy=timers.target
]] }

file { dir .. "settings.service", content = [[
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/touch /run/settings
]] }

service { "job.timer", enable = true }
service { "settings", enable = true }
