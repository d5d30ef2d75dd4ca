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

file { dir .. "job.socket", content = [[
[Socket]
ListenStream=/run/job.socket
Accept=no
[Install]
WantedBy=sockets.target
]] }

file { dir .. "job.path", content = [[
[Path]
PathExists=/run/never
[Install]
WantedBy=paths.target
]] }

file { dir .. "mnt.mount", content = [[
[Mount]
What=tmpfs
Where=/mnt
Type=tmpfs
[Install]
WantedBy=multi-user.target
]] }

file { dir .. "all.target", content = [[
[Install]
WantedBy=multi-user.target
]] }

local ensure, enable = arg[1] or "running", arg[1] ~= "stopped"
service { "job.timer", "job.socket", "job.path", "mnt.mount", "all.target", ensure = ensure, enable = enable }
service { "settings", ensure = ensure }
