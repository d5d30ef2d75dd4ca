-- Checks the numbers of users and groups, and finds a user's own group, for the types user and group.

local accounts, busybox = require "std.accounts", require "std.busybox"

local numbers = {}

-- Fails if another account of its kind has the wanted number, or gets it from an earlier resource. found is the present
-- account or nil, key is uid or gid, all has the accounts by name, and pending returns one as earlier resources leave it.
local function check(want, found, kind, key, all, pending)
  local number = want[key]
  if not number or want.non_unique or found and found[key] == number then return end
  local function taken(name) error(("the %s %d is used by the %s %s (allow both with non_unique = true)"):format(key, number, kind, name), 0) end
  local new = pending(number)
  if new and new.ensure == "present" and new.name ~= want.name then taken(new.name) end
  for name, a in pairs(all) do
    if a[key] == number and name ~= want.name then
      local p = pending(name)
      if not p or p.ensure == "present" and (p[key] or number) == number then taken(name) end
    end
  end
end

--- Returns what is wrong with a number that an account cannot have.
function numbers.mistake(number)
  if number and (number < 0 or number > 4294967294) then return ("expected a number from 0 to 4294967294, got %d"):format(number) end
end

--- Fails if another user has the wanted number, or gets it from an earlier resource. found is the present user or nil.
function numbers.check_uid(host, want, found) check(want, found, "user", "uid", accounts.users(host), host.pending_user) end

--- Fails if another group has the wanted number, or gets it from an earlier resource. found is the present group or nil.
function numbers.check_gid(host, want, found) check(want, found, "group", "gid", accounts.groups(host), host.pending_group) end

--- Whether userdel removes the user's own group (USERGROUPS_ENAB in login.defs(5); deluser of busybox always): a group of the same name without
--- other members.
function numbers.takes_group(want, have, host)
  local own = accounts.group(host, want.name)
  local removes = busybox.program(host, "userdel") ~= "userdel" or re.test(host.read("/etc/login.defs") or "", [[(?m)^\s*USERGROUPS_ENAB\s+"?yes]])
  return have.group == want.name and own ~= nil and removes
    and #tbl.filter(own.members, function(m) return m ~= want.name end) == 0
    and not tbl.any(tbl.values(accounts.users(host)), function(u) return u.name ~= want.name and u.gid == own.gid end)
end

return numbers
