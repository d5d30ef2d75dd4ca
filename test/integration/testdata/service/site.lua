-- A unit file and its service. Each start of the service adds a line to
-- /run/it.starts.
--   site.lua VERSION [ENSURE [ENABLE]]
local version, ensure, enable = arg[1], arg[2], arg[3]

local unit = file {
  "/etc/systemd/system/it.service",
  content = [[
[Unit]
Description=version ]] .. version .. [[

[Service]
ExecStart=/bin/sh -c 'echo ]] .. version .. [[ >> /run/it.starts; exec sleep infinity'
[Install]
WantedBy=multi-user.target
]],
  owner = "root", group = "root", mode = "0644",
}

service {
  "it",
  ensure = ensure or "running",
  enable = enable and enable == "true",
  subscribe = unit,
}
