file.defaults {
  owner = "root", group = "root",
}
file {
  "/etc/myapp",
  ensure = "directory",
  mode = "0755",
}
local conf = file {
  "/etc/myapp/app.conf",
  content = "port = 8080\n",
  mode = "0640",
}
exec {
  "reload",
  command = "systemctl reload myapp",
  refreshonly = true,
  subscribe = conf,
}
