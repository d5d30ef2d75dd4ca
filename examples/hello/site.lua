-- A first site: a small web app's files, below a directory of your own.
--
--   ccm plan examples/hello/site.lua          what would be done
--   ccm run  examples/hello/site.lua          do it; run it twice
--   ccm run  examples/hello/site.lua /tmp/x   below another directory
--
-- arg[1] is the first argument after the script.
local root = arg[1] or "./hello-site"
if root:sub(1, 1) ~= "/" then
  root = env.PWD .. "/" .. root:gsub("^%./", "")
end

-- From here to the end of this file, every file{...} has these.
file.defaults { owner = facts.user.name, group = facts.user.group, mode = "0644" }

file { root, ensure = "directory", mode = "0755" }
file { root .. "/conf", ensure = "directory", mode = "0755" }

-- Facts describe the machine. They are gathered when you ask for them.
local port = 8080
local workers = facts.cpu.count
local lines = {
  "# written by ccm on " .. facts.hostname,
  "port = " .. port,
  "workers = " .. workers,
}

-- This is a program, so conditions and loops are those of Lua.
if facts.os.family == "debian" then
  table.insert(lines, "pidfile = /run/hello.pid")
end
for i = 1, math.min(workers, 4) do
  table.insert(lines, "log." .. i .. " = worker-" .. i .. ".log")
end

local conf = file {
  root .. "/conf/app.conf",
  content = table.concat(lines, "\n") .. "\n",
  mode = "0640",
}

-- A file that is copied; its path is relative to this script.
file { root .. "/welcome.txt", source = "files/welcome.txt" }

-- Runs only when app.conf has changed. The handle says which resource is meant.
exec {
  "reload the app",
  command = "touch " .. root .. "/reloaded",
  refreshonly = true,
  subscribe = conf,
}
