-- What it runs.
local directory, unit, timer, link = require "std.directory", require "std.unit", require "std.timer", require "std.link"

return function(state)
  local ensure = state == "gone" and "absent" or "present"
  local second = state == "two"
  directory {
    "/srv/www", source = "../files/www", ensure = ensure,
    owner = second and "app" or "root", group = "root", mode = "0640", purge = second,
  }
  link { "/srv/current", target = second and "www/css" or "www", ensure = ensure }
  unit {
    "it.service", ensure = ensure, enable = not second, active = true,
    content = "[Unit]\nDescription=" .. state .. "\n[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
  }
  unit { "it limits", unit = "it.service", dropin = "limits", ensure = ensure, content = "[Service]\nLimitNOFILE=1234\n" }
  timer {
    "report", ensure = ensure, command = "/bin/sh -c 'echo ran > /run/report'", delay = second and "1s" or nil,
    schedule = second and { "hourly", "Mon 03:00" } or { "hourly" },
  }
end
