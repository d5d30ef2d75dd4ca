-- A first site: the files of a small app, below a directory of your own.
--
--   ccm plan examples/hello/site.lua          what would be done
--   ccm run  examples/hello/site.lua          do it; run it twice
--   ccm run  examples/hello/site.lua /tmp/x   below another directory
--
-- arg[1] is the first argument after the script. Paths of resources are
-- absolute; ccm.abs makes one of a path in the working directory.
local root = ccm.abs(arg[1] or "hello-site")

-- From here to the end of this file, every file{...} has these.
file.defaults { owner = facts.user.name, group = facts.user.group, mode = "0644" }

file { root, ensure = "directory", mode = "0755" }
file { root .. "/conf", ensure = "directory", mode = "0755" }

-- This is a program: conditions and loops are those of Lua. Facts describe the
-- machine and are gathered when you ask for them.
local lines = { "host = " .. facts.hostname, "workers = " .. facts.cpu.count }
if facts.os.family == "debian" then
  table.insert(lines, "pidfile = /run/hello.pid")
end
for i = 1, 3 do
  table.insert(lines, "log." .. i .. " = worker-" .. i .. ".log")
end

local conf = file {
  root .. "/conf/app.conf",
  content = table.concat(lines, "\n") .. "\n",
  mode = "0640",
}

-- A template: ${ } is an expression.
file {
  root .. "/motd",
  content = template.expand("Welcome to ${ facts.hostname }, ${ facts.os.name }.\n"),
}

-- A file that is copied. Its path is relative to this script.
file { root .. "/welcome.txt", source = "files/welcome.txt" }

-- Runs only when app.conf has changed. The handle identifies the resource.
exec {
  "reload the app",
  command = "touch " .. root .. "/reloaded",
  refreshonly = true,
  subscribe = conf,
}
