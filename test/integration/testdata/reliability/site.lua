-- Fifty resources: five readers, each with eight files that it reads, a command
-- that is run when one of them changes, and a service that is restarted then.
local version = arg[1]
file.defaults { owner = "root", group = "root", mode = "0644" }

for i = 1, 5 do
  local files = {}
  for k = 1, 8 do
    local name = "/srv/kill/" .. i .. "-" .. k
    if k == 8 and version == "B" then
      file { name, ensure = "absent" }
    else
      file { name, content = version .. " of " .. i .. " " .. k .. "\n", mode = version == "A" and "0644" or "0600" }
    end
    files[k] = "file#" .. name
  end
  exec { "note " .. i, command = "cat /srv/kill/" .. i .. "-* > /run/noted-" .. i, provider = "shell", refreshonly = true, subscribe = files }
  service { "reader@" .. i, subscribe = files }
end
