-- group: keeps a group of the system, and its members.
--
--   std.group { "deploy", members = { "alice", "bob" } }
--   std.group { "wheel", members = { "alice" }, membership = "exact" }

local accounts, busybox, gshadow, nss = require "std.accounts", require "std.busybox", require "std.gshadow", require "std.nss"
local numbers, shadow = require "std.numbers", require "std.shadow"

local function sets_admins(want, have) return want.admins and not tbl.equal(tbl.sort(want.admins), tbl.sort(have.admins or {})) end

return ccm.type {
  name = "group",
  doc = "Manages a group in /etc/group, with groupadd, groupmod and groupdel, or addgroup and delgroup of busybox.",
  commands = { "groupadd", "groupmod", "groupdel", "addgroup", "delgroup", "usermod", "gpasswd", "chgpasswd", "getent" },
  properties = {
    name = { name = true, doc = "The name of the group.", example = "deploy" },
    gid = { type = "integer", doc = "The numeric ID of the group. Default: chosen by the system." },
    non_unique = { type = "boolean", doc = "Whether another group may have the same gid. By default, that is an error." },
    system = { type = "boolean", default = false, doc = "Whether a new group gets an ID from the range for system groups." },
    members = { type = "list", set = true, one_line = true, kind = "owner", doc = "The members, apart from users with this primary group. They must exist, locally or in a directory service such as LDAP." },
    membership = { enum = { "minimum", "exact" }, default = "minimum", doc = "Whether to keep other members." },
    admins = { type = "list", set = true, one_line = true, kind = "owner", doc = "The users who may change members and password of the group with gpasswd, exactly these." },
    password = { one_line = true, secret = true, doc = "The password hash of the group from crypt(3), for newgrp. * disables it." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the group should exist." },
  },

  validate = function(want)
    if not accounts.is_name(want.name) then return "name", "expected a group name, got " .. inspect(want.name) end
    if numbers.mistake(want.gid) then return "gid", numbers.mistake(want.gid) end
    return shadow.password_mistake(want.password)
  end,

  status = function(want, host)
    for _, m in ipairs(want.ensure == "present" and want.members or {}) do
      if not accounts.has_user(host, m) and not nss.has_user(host, m) then error(("no such user %s in /etc/passwd"):format(inspect(m)), 0) end
    end
    if want.ensure == "present" then gshadow.check(host, want.admins) end
    for _, m in ipairs(want.ensure == "present" and want.admins or {}) do accounts.check_user(host, m, "an administrator of the group") end
    local found = accounts.group(host, want.name)
    if want.ensure == "present" then numbers.check_gid(host, want, found) end
    if not found and want.ensure == "present" then nss.refuse(host, "group", want.name, "groupadd") end
    if not found then return { ensure = "absent" } end
    if want.gid and not found.gid then host.pending_group(want.name, { needed = true }) end
    if want.ensure == "absent" then
      local own = tbl.find(tbl.values(accounts.users(host)), function(u) return u.gid == found.gid and accounts.has_user(host, u.name) end)
      if own then error(("%s is the primary group of the user %s and cannot be removed"):format(want.name, own.name), 0) end
    end
    local members = tbl.filter(found.members, function(m) return accounts.has_user(host, m) or not host.pending_user(m) end)
    found = tbl.merge(found, { members = members })
    if want.membership == "minimum" then
      -- Only the wanted members count.
      members = tbl.filter(want.members or {}, function(m) return tbl.contains(found.members, m) end)
    end
    local have = { ensure = "present", gid = found.gid, members = members, all = found.members }
    if not want.admins and not want.password then return have end
    return tbl.merge(have, tbl.pick(gshadow.found(host, want.name), tbl.filter({ "admins", "password" }, function(p) return want[p] end)))
  end,

  leaves = function(want)
    if want.ensure == "absent" then return { { group = want.name, kind = "absent" } } end
    return { { group = want.name, gid = want.gid, members = want.members } }
  end,

  programs = function(action, want, have, host)
    local list = { ({ create = "groupadd", remove = "groupdel" })[action] or want.gid and want.gid ~= have.gid and "groupmod" or nil }
    if action ~= "remove" then
      local wanted, all = want.members or {}, have.all or {}
      local gone = want.membership == "exact" and want.members and tbl.filter(all, function(m) return not tbl.contains(wanted, m) end) or {}
      for _, m in ipairs(tbl.concat(tbl.filter(wanted, function(m) return not tbl.contains(all, m) end), gone)) do
        list[#list + 1] = accounts.has_user(host, m) and "usermod" or "gpasswd"
      end
      if sets_admins(want, have) then list[#list + 1] = "gpasswd" end
      if want.password and want.password ~= have.password then list[#list + 1] = "chgpasswd" end
    end
    return tbl.map(tbl.unique(list), function(name) return { busybox.program(host, name, want), below_root = true } end)
  end,

  recreate = require("std.recreate").group,

  perform = function(action, want, have, host)
    if action == "remove" then return accounts.run(host, "groupdel", want.name) end
    if action == "create" then
      accounts.run(host, "groupadd", want.gid and { "--gid", want.gid }, want.non_unique and "--non-unique", want.system and "--system", want.name)
    elseif want.gid and want.gid ~= have.gid then
      accounts.run(host, "groupmod", "--gid", want.gid, want.non_unique and "--non-unique", want.name)
    end
    if sets_admins(want, have) then gshadow.set_admins(host, want.name, want.admins) end
    if want.password and want.password ~= have.password then gshadow.set_password(host, want.name, want.password) end
    local users = accounts.users(host)
    for _, m in ipairs(tbl.filter(want.members or {}, function(m) return not tbl.contains(have.all or {}, m) end)) do
      if users[m] then accounts.run(host, "usermod", "--append", "--groups", want.name, m) else nss.add_member(host, m, want.name) end
    end
    local exact = want.membership == "exact" and want.members
    for _, m in ipairs(exact and tbl.filter(have.all or {}, function(m) return not tbl.contains(exact, m) end) or {}) do
      if users[m] then
        local others = tbl.filter(accounts.groups_of(host, m), function(g) return g ~= want.name end)
        accounts.run(host, "usermod", "--groups", str.join(others, ","), m)
      else
        nss.remove_member(host, m, want.name)
      end
    end
  end,
}
