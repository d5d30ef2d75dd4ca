-- Whether the home directory of a user is safe to touch, and what becomes of it with the user, for the type user.

local accounts, safepath = require "std.accounts", require "std.safepath"

local home = {}

--- Returns the user want.name, nil if there is none. Fails if the home directory is to be made, moved or removed and
--- another user owns a directory on its path, who could put a link there: useradd, usermod and userdel follow links.
function home.user(host, want)
  local found = accounts.users(host)[want.name]
  local gone, homes = want.ensure == "absent", {}
  if want.manage_home and not gone and want.home and not (found and found.home == want.home) then homes[1] = want.home end
  if want.manage_home and found and (gone or #homes > 0) then homes[#homes + 1] = found.home end
  for _, h in ipairs(homes) do safepath.check_home(host, h) end
  return found
end

--- Returns what becomes of the home directory of a user that is removed: goes, whether it is removed; kept, why it is
--- not; keeps, what runs have not made in it. Unchanged files of /etc/skel and the wanted ssh key count as made.
function home.found(host, want, user, users)
  local dir = user.home
  local found = want.manage_home and str.starts(dir, "/") and host.stat(dir)
  if not found then return {} end
  if found.uid ~= user.uid then return { kept = ("%s belongs to %s"):format(dir, found.owner) } end
  if found.kind ~= "directory" then return { kept = ("%s is a %s"):format(dir, found.kind) } end
  for name, other in tbl.pairs(users) do
    if name ~= want.name and str.starts(other.home .. "/", dir .. "/") then return { kept = ("the home of %s is %s"):format(name, other.home) } end
  end
  local key = want.ssh_key and ".ssh/id_" .. want.ssh_key
  local skel = path.join(host.root, "etc/skel")
  local kept, keeps = host.kept_data(dir, { like = skel, created = key and { ".ssh", key, key .. ".pub" } or {} })
  return { goes = not kept, kept = kept, keeps = keeps }
end

--- Removes the home directory, if it goes, and an empty file for mail. Unlike those of userdel, these removals are
--- backed up.
function home.remove(host, want, have)
  if not want.manage_home then return end
  if have.dir.goes then host.remove(have.home, { recursive = true }) end
  local mail = "/var/mail/" .. want.name
  local found = host.stat(mail)
  if found and found.kind == "file" and found.size == 0 then host.remove(mail) end
end

return home
