-- What useradd, usermod and userdel leave besides the entries of a user, for the plans of the type user.

local busybox, shadow, ssh, useradd = require "std.busybox", require "std.shadow", require "std.ssh", {}

--- Returns the directory whose files a new home gets.
function useradd.skeleton(host)
  return (re.match(host.read "/etc/default/useradd" or "", [[(?m)^SKEL=["']?([^"'\s]+)]]) or { "/etc/skel" })[1]
end

--- Returns what is copied into a new home, as a list for leaves of a type, with paths below the home.
function useradd.copied(host)
  local skel = useradd.skeleton(host)
  if not host.is_directory(skel) then return {} end
  return tbl.map(host.tree(skel), function(e)
    local content = e.kind == "file" and e.size <= 65536 and host.read(path.join(skel, e.path)) or nil
    return { path = e.path, kind = e.kind ~= "special" and e.kind or nil, mode = e.mode, target = e.target, content = content }
  end)
end

--- Returns the path of the mailbox that a new user gets, nil for none (CREATE_MAIL_SPOOL in useradd(8)).
function useradd.mailbox(host, want)
  if want.system or not re.test(host.read "/etc/default/useradd" or "", [[(?mi)^CREATE_MAIL_SPOOL=["']?yes]]) then return nil end
  local dir = re.match(host.read "/etc/login.defs" or "", [[(?m)^[ \t]*MAIL_DIR[ \t]+(/\S+)]])
  return path.join(dir and dir[1] or "/var/mail", want.name)
end

-- What is left when a user is removed.
local function left_without(want, have)
  local dir = have and have.dir or {}
  local list = { { user = want.name, kind = "absent" } }
  if have and have.takes_group then table.insert(list, { group = want.name, kind = "absent" }) end
  if dir.goes then table.insert(list, { path = have.home, kind = "absent", keeps = dir.keeps }) end
  if want.manage_home then table.insert(list, { path = "/var/mail/" .. want.name }) end
  return list, not have
end

--- Returns what the actions of a user leave, as leaves of a type does.
function useradd.leaves(want, have)
  if want.ensure == "absent" then return left_without(want, have) end
  local new = not (have and have.ensure == "present")
  local group = want.group or have and have.group or want.name
  local list = { { user = want.name, uid = want.uid or have and have.uid, group = group, home = want.home or have and (have.home or have.at) } }
  if new and not want.group then table.insert(list, { group = want.name }) end
  for _, g in ipairs(want.groups or {}) do table.insert(list, { group = g, members = { want.name } }) end
  for _, p in ipairs { "subuid", "subgid" } do
    if want[p .. "s"] then table.insert(list, { path = "/etc/" .. p }) end
  end
  if not have then return list, true end
  local own = { owner = want.name, group = group }
  if have.made then table.insert(list, tbl.merge({ path = have.made, kind = "directory", mode = have.mode }, own)) end
  for _, e in ipairs(have.made and have.copied or {}) do table.insert(list, tbl.merge(e, { path = path.join(have.made, e.path) }, own)) end
  if have.mailbox then table.insert(list, { path = have.mailbox }) end
  if want.ssh_key and have.ssh_key ~= want.ssh_key then list = tbl.concat(list, ssh.leaves(want, have)) end
  local function other(p) return not new and want[p] ~= nil and want[p] ~= have[p] end
  -- usermod gives another owner or group to the home directory and what is in it, and moves it.
  local moves = other "home" and have.managed and not have.stays
  if have.home and (moves or other "uid" or other "group") then table.insert(list, { path = have.home }) end
  if moves then table.insert(list, { path = want.home }) end
  if other "uid" then table.insert(list, { path = "/var/mail/" .. want.name }) end
  return list
end

--- Returns the programs that an action on a user calls, as programs of a type does.
function useradd.programs(action, want, have, host)
  local new, list = action == "create", {}
  local function needs(needed, below_root, ...)
    for _, name in ipairs(needed and { ... } or {}) do list[#list + 1] = { busybox.program(host, name, want), below_root = below_root } end
  end
  local function differs(p) return want[p] ~= nil and (new or want[p] ~= have[p]) end
  needs(new, true, "useradd")
  needs(action == "remove", true, "userdel")
  if action == "remove" then return list end
  local groups = want.groups and not tbl.equal(tbl.sort(want.groups), tbl.sort(have.groups or {}))
  needs(not new and (groups or tbl.any({ "uid", "group", "comment", "shell", "home", "locked" }, differs)), true, "usermod")
  needs(differs "password" and (new or want.update_password == "always"), true, "chpasswd")
  needs(shadow.needs_chage(want, differs, new), true, "chage")
  needs(want.admin_groups and not tbl.equal(tbl.sort(want.admin_groups), tbl.sort(have.admin_groups or {})), true, "gpasswd")
  needs(have.lost, true, "chown")
  needs(have.lost and host.is_directory(useradd.skeleton(host)), true, "cp")
  needs(differs "ssh_key", false, "setsid", "runuser", "mkdir", "ssh-keygen")
  return list
end

return useradd
