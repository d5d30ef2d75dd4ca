-- A release of an application, and the service that runs it: app.lua CHECKSUM
file.defaults { owner = "root", group = "root", mode = "0644" }
file { "/opt/app", ensure = "directory", mode = "0755" }

local app = archive {
  "/opt/app.tar.gz",
  url = "http://127.0.0.1:8080/app.tar.gz",
  checksum = arg[1],
  extract_parent = "/opt/app",
  creates = "/opt/app/bin/app",
  cleanup = true,
  owner = "root", group = "root",
}

local unit = file {
  "/etc/systemd/system/app.service",
  content = [[
[Service]
ExecStart=/opt/app/bin/app
[Install]
WantedBy=multi-user.target
]],
  require = app,
}

service { "app", enable = true, require = unit }
