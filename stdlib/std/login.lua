-- Checks the login shell and the home directory of a user, and makes and moves the home, for the type user.

local accounts, safepath, useradd = require "std.accounts", require "std.safepath", require "std.useradd"

local login = {}

-- Fails if nobody could log in with a shell. A directory without /bin is not a system yet.
local function check_shell(host, shell)
  if host.root ~= "/" and not host.stat "/bin" then return end
  local target = safepath.resolved(host, shell)
  local found = target and host.stat(target)
  if not found then error(("the shell %s does not exist, so the user could not log in (install its package first)"):format(shell), 0) end
  if found.kind ~= "file" then error(("the shell %s is a %s"):format(shell, found.kind), 0) end
  if not re.test(found.mode, "[1357].{0,2}$") then error(("the shell %s is not executable (its mode is %s)"):format(shell, found.mode), 0) end
end

-- The mode of a new home, as useradd computes it from login.defs(5).
local function mode(host)
  local text = host.read "/etc/login.defs" or ""
  local given = re.match(text, [[(?m)^[ \t]*HOME_MODE[ \t]+0*([0-7]{1,4})\b]])
  local umask = re.match(text, [[(?m)^[ \t]*UMASK[ \t]+0*([0-7]{1,3})\b]])
  if given then return ("%04o"):format(tonumber(given[1], 8)) end
  return "0" .. (("%03o"):format(tonumber(umask and umask[1] or "022", 8)):gsub("%d", function(d) return 7 - d end))
end

-- The directory in which useradd makes homes.
local function base(host)
  local found = re.match(host.read "/etc/default/useradd" or "", [[(?m)^HOME=["']?([^"'\s]+)]])
  return found and str.strip_suffix(found[1], "/") or "/home"
end

--- Checks the wanted shell and home of a user; found is the present user or nil. Returns for the state: lost, the home
--- that has to be made for a user who is there; made, the same for any user, with its mode; copied, what a plan expects
--- in that; managed, that there is to be a home; parents, the missing directories above the home; stays, that a home
--- that changes does not have to be moved; at, where the home is to be; mailbox, the path of one that is made.
function login.check(host, want, found)
  if want.shell then check_shell(host, want.shell) end
  local old = found and found.home or ""
  local home = want.home or found and old or base(host) .. "/" .. want.name
  -- Users without a home have such a path in /etc/passwd.
  local have = { at = home, mailbox = not found and useradd.mailbox(host, want) or nil }
  if not want.manage_home or not str.starts(home, "/") or home == "/nonexistent" then return have end
  if host.is_directory(home) and home == old then return have end
  local there, moves = host.stat(home), str.starts(old, "/") and old ~= home and host.is_directory(old)
  if there and not host.is_directory(home) then error(("expected a directory at %s, found a %s"):format(home, there.kind), 0) end
  if there and moves then
    error(("cannot move %s to %s, which already exists (move the files by hand, or set manage_home = false)"):format(old, home), 0)
  end
  local parents, problem = host.missing_parents(home)
  if problem then error(problem, 0) end
  safepath.check_home(host, home)
  local made = not there and not moves and home or nil
  return tbl.merge(have, {
    made = made, mode = mode(host), managed = true, lost = found and made, parents = #parents > 0 and parents or nil, stays = not moves,
    copied = made and useradd.copied(host),
  })
end

--- Returns the groups that a user is in, of those that count: with minimum membership only the wanted ones.
function login.groups(host, want)
  -- A plan includes groups that earlier resources add the user to.
  local joined = tbl.filter(want.groups or {}, function(g) return tbl.contains(accounts.group(host, g).members, want.name) end)
  local all = tbl.sort(tbl.unique(tbl.concat(accounts.groups_of(host, want.name), joined)))
  if want.membership == "exact" then return all end
  return tbl.filter(want.groups or {}, function(g) return tbl.contains(all, g) end)
end

--- Adds what login.check found to a decision.
function login.decide(d, have)
  if have.lost then
    table.insert(d.diff, { "manage_home", "no directory " .. have.lost, "made" })
    if #d.actions == 0 then d.actions = { { "update", "created the home directory" } } end
  end
  if have.parents and #d.actions > 0 then table.insert(d.diff, { "manage_home", "no directory " .. str.join(have.parents, ", "), "made" }) end
end

--- Runs usermod. It changes /etc/passwd before it moves the home, so that is changed back if the home was not moved.
function login.change(host, options, want, have)
  local ok, err = pcall(accounts.run, host, "usermod", options, want.name)
  if ok then return end
  if tbl.contains(options, "--move-home") and accounts.users(host)[want.name].home ~= have.home and host.stat(have.home) then
    accounts.run(host, "usermod", "--home", have.home, want.name)
  end
  error(err, 0)
end

--- Makes the home of a user who is there, as useradd does: with the files of /etc/skel.
function login.make_home(host, user, home)
  local skel = useradd.skeleton(host)
  host.mkdir(home, { mode = "0700" })
  local ok, err = pcall(function()
    local at = host.real(home)
    if host.is_directory(skel) then host.run { "cp", "-a", "--", host.real(skel) .. "/.", at, below_root = true } end
    host.run { "chown", "-R", "-h", user.uid .. ":" .. user.gid, "--", at, below_root = true }
    host.chmod(home, mode(host))
    if host.root == "/" and host.which "restorecon" then host.run { "restorecon", "-R", at } end
  end)
  if ok then return end
  host.remove(home, { recursive = true })
  error(err, 0)
end

return login
