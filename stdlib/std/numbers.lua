-- Checks the numbers of users and groups, and finds a user's own group, for the types user and group.

local accounts = require "std.accounts"

local numbers = {}

--- Fails if another group has the wanted number, and will have it at the turn of this one.
function numbers.check_gid(host, want)
  local other = want.gid and accounts.group_name(host, want.gid)
  local there = other and other ~= want.name and accounts.group(host, other)
  if there and there.gid == want.gid then error(("the gid %d is used by the group %s"):format(want.gid, other), 0) end
end

--- Fails if another user has the wanted number, or gets it from an earlier resource. found is the present user or nil.
function numbers.check_uid(host, want, found)
  if not want.uid or want.non_unique or found and found.uid == want.uid then return end
  local function taken(name) error(("the uid %d is used by the user %s (allow both with non_unique = true)"):format(want.uid, name), 0) end
  local new = host.pending_user(want.uid)
  if new and new.ensure == "present" and new.name ~= want.name then taken(new.name) end
  for name, u in pairs(accounts.users(host)) do
    local pending = host.pending_user(name)
    local stays = not pending or pending.ensure == "present" and (pending.uid or u.uid) == u.uid
    if u.uid == want.uid and name ~= want.name and stays then taken(name) end
  end
end

--- Whether userdel removes the user's own group (USERGROUPS_ENAB in login.defs(5)): a group of the same name without
--- other members.
function numbers.takes_group(want, have, host)
  local own = accounts.group(host, want.name)
  return have.group == want.name and own ~= nil and re.test(host.read("/etc/login.defs") or "", [[(?m)^\s*USERGROUPS_ENAB\s+"?yes]])
    and #tbl.filter(own.members, function(m) return m ~= want.name end) == 0
    and not tbl.any(tbl.values(accounts.users(host)), function(u) return u.name ~= want.name and u.gid == own.gid end)
end

return numbers
