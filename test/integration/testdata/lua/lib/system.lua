-- What it sees.
local kv, line, block, ini = require "std.kv", require "std.line", require "std.block", require "std.ini"
local cron, sysctl, apt_repo = require "std.cron", require "std.sysctl", require "std.apt_repo"

return function(state)
  local ensure = state == "gone" and "absent" or "present"
  local second = state == "two"
  file { "/etc/it.conf", owner = "root", group = "root", mode = "0640" }
  kv { "Port", path = "/etc/it.conf", value = second and "2222" or "22", ensure = ensure }
  kv { "Name", path = "/etc/it.conf", value = state, ensure = ensure }
  line { "/etc/it.conf", line = "# kept", ensure = ensure }
  block { "hosts", path = "/etc/hosts", content = "192.0.2.1 it\n", ensure = ensure }
  ini { "listen", path = "/etc/it.conf", section = "server", value = state, ensure = ensure }
  cron { "report", command = "/bin/true", schedule = second and "@daily" or "5 4 * * *", ensure = ensure }
  sysctl { "net.ipv4.ip_default_ttl", value = second and "62" or "63", ensure = ensure }
  apt_repo { "extra", uris = "file:/srv/extra", suites = "./", trusted = true, ensure = ensure }
end
