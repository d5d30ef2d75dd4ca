-- Services that do not stay up, each in its own way, and what needs one of them.
local ways = {
  { "at-once", "ExecStart=/bin/sh -c 'echo cannot find my config >&2; exit 3'" },
  { "soon", "ExecStart=/bin/sh -c 'sleep 0.1; exit 4'" },
  { "signal", "ExecStart=/bin/sh -c 'kill -KILL $$$$'" },
  { "missing", "ExecStart=/nonexistent/daemon" },
  { "oneshot", "Type=oneshot\nExecStart=/bin/false" },
}

for _, way in ipairs(ways) do
  local name, exec = way[1], way[2]
  local unit = file {
    "/etc/systemd/system/dies-" .. name .. ".service",
    content = "[Service]\n" .. exec .. "\n",
    owner = "root", group = "root", mode = "0644",
  }
  service { "dies-" .. name, require = unit }
end

file {
  "/etc/needs-it.conf",
  content = "written only if the service runs\n",
  owner = "root", group = "root", mode = "0644",
  require = "service#dies-soon",
}
