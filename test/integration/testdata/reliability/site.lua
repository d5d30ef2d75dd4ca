-- Fifty resources: five directories with eight files each, a command for each
-- directory that is run when one of its files changes, and a service that is
-- restarted when any of the last directory does.
local version = arg[1]
file.defaults { owner = "root", group = "root", mode = "0644" }

for i = 1, 5 do
  if i > 1 then
    file { "/srv/kill/" .. i, ensure = "directory", mode = version == "A" and "0755" or "0700" }
  end
  local files = {}
  for k = 1, 8 do
    local name = "/srv/kill/" .. i .. "/" .. k
    if k == 8 and version == "B" then
      file { name, ensure = "absent" }
    else
      file { name, content = version .. " of " .. i .. " " .. k .. "\n", mode = version == "A" and "0644" or "0600" }
    end
    files[k] = "file#" .. name
  end
  exec { "note " .. i, command = "cat /srv/kill/" .. i .. "/* > /run/noted-" .. i, provider = "shell", refreshonly = true, subscribe = files }
  if i == 5 then
    service { "reader", subscribe = files }
  end
end
