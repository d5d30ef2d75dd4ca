-- A service of a user and its unit file: user.lua VERSION [ENSURE [ENABLE]]
local version, ensure, enable = arg[1], arg[2], arg[3]
local unit = file {
  "/home/alice/.config/systemd/user/it.service",
  content = [[
[Unit]
Description=version ]] .. version .. [[

[Service]
ExecStart=/bin/sh -c 'id -un > ~/it.user; echo ]] .. version .. [[ >> ~/it.starts; exec sleep infinity'
[Install]
WantedBy=default.target
]],
  owner = "alice", group = "alice", mode = "0644",
}
service {
  "it", scope = "user", user = "alice",
  ensure = ensure or "running", enable = enable and enable == "true", subscribe = unit,
}
