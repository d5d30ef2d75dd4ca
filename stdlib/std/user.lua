-- user: keeps a user of the system.
--
--   std.user { "deploy", shell = "/bin/bash", groups = { "www-data" } }
--   std.user { "nobody-needs-this", ensure = "absent", manage_home = true }

local accounts, gshadow, home, login, nss = require "std.accounts", require "std.gshadow", require "std.home", require "std.login", require "std.nss"
local numbers, shadow, ssh, subids = require "std.numbers", require "std.shadow", require "std.ssh", require "std.subids"

return ccm.type {
  name = "user",
  doc = "Manages a user in /etc/passwd, with useradd, usermod and userdel. With busybox alone, users can be made and removed; other changes need the package shadow.",
  commands = { "useradd", "usermod", "userdel", "adduser", "deluser", "addgroup", "chpasswd", "chage", "setsid", "runuser", "mkdir", "ssh-keygen", "cp", "chown", "restorecon", "getent", "gpasswd" },
  properties = {
    name = { name = true, doc = "The name of the user.", example = "deploy" },
    uid = { type = "integer", doc = "The numeric ID of the user. Default: chosen by the system." },
    non_unique = { type = "boolean", doc = "Whether another user may have the same uid. By default, that is an error." },
    group = { one_line = true, kind = "group", doc = "The primary group of the user. Default: for a new user, a group of the same name." },
    groups = { type = "list", set = true, one_line = true, kind = "group", doc = "The supplementary groups of the user. They must exist." },
    membership = { enum = { "minimum", "exact" }, default = "minimum", doc = "Whether to keep other supplementary groups." },
    admin_groups = { type = "list", set = true, one_line = true, kind = "group", doc = "The groups that the user may change with gpasswd. Others are kept." },
    comment = { one_line = true, doc = "The full name or a description." },
    home = { type = "path", doc = "The home directory." },
    manage_home = { type = "boolean", default = false, doc = "Whether to create, move and remove the home directory with the user. A home with data that no run created is kept when the user is removed, unless with_data = true. Moving to another file system takes as long as copying the files, at most timeout." },
    shell = { type = "path", doc = "The login shell." },
    password = { one_line = true, secret = true, doc = "The password hash from crypt(3), such as from mkpasswd. * disables the password." },
    update_password = { enum = { "always", "on_create" }, default = "always", doc = "Whether to replace an existing password, or to set it only for a new user." },
    locked = { type = "boolean", doc = "Whether the password is locked, as with usermod --lock; the hash is kept. If unset, the lock is kept, also when the password changes. Logins with ssh keys still work, until expires." },
    inactive_days = { type = "integer", doc = "The days after password expiry until the account is disabled; -1 for never." },
    min_days = { type = "integer", doc = "The minimum days between password changes." },
    max_days = { type = "integer", doc = "The maximum days until a password must be changed; -1 for never." },
    warn_days = { type = "integer", doc = "The days of warning before the password expires." },
    expires = { doc = "The date on which the account expires, or never.", example = "2027-01-31" },
    last_change = { doc = "The date of the last password change, from which the days count. 1970-01-01 demands a new password at the next login; never turns this off.", example = "2026-01-31" },
    ssh_key = { enum = { "ed25519", "ecdsa", "rsa" }, doc = "The type of an ssh key to create in .ssh of the home directory if missing, without a passphrase." },
    subuids = { type = "list", set = true, one_line = true, doc = "The ranges in /etc/subuid, for containers: first number and count. Default: chosen by the system.", example = "100000:65536" },
    subgids = { type = "list", set = true, one_line = true, doc = "The same in /etc/subgid." },
    system = { type = "boolean", default = false, doc = "Whether a new user gets an ID from the range for system users." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the user should exist." },
  },

  validate = function(want)
    if not accounts.is_name(want.name) then return "name", "expected a user name, got " .. inspect(want.name) end
    if numbers.mistake(want.uid) then return "uid", numbers.mistake(want.uid) end
    return shadow.mistake(want)
  end,

  status = function(want, host)
    for _, g in ipairs(want.ensure == "present" and tbl.concat({ want.group }, want.groups or {}, want.admin_groups or {}) or {}) do
      if not accounts.group(host, g) then error(("no such group %s in /etc/group"):format(inspect(g)), 0) end
    end
    local found = home.user(host, want)
    if not found and want.ensure == "present" then nss.refuse(host, "passwd", want.name, "useradd") end
    if want.ensure == "present" then numbers.check_uid(host, want, found) gshadow.check(host, want.admin_groups) end
    if want.ssh_key and want.ensure == "present" then ssh.check(want, found, host) end
    local have = want.ensure == "present" and login.check(host, want, found) or {}
    if not found then return tbl.merge(have, shadow.missing(want)) end
    have = tbl.merge(have, tbl.pick(found, { "uid", "comment", "home", "shell" }))
    have.ensure = "present"
    have.group = found.gid and accounts.group_name(host, found.gid)
    if want.ensure == "absent" then return tbl.merge(have, { takes_group = numbers.takes_group(want, have, host), dir = home.found(host, want, found, accounts.users(host)) }) end
    have.groups = login.groups(host, want)
    have = tbl.merge(have, shadow.found(want, host), subids.found(want, host), gshadow.groups_found(want, host))
    if want.ssh_key then have.ssh_key = host.stat(ssh.file(want, have)) and want.ssh_key or "none" end
    return have
  end,

  decide = function(want, have, compare)
    local d, dir = compare(), have.dir or {}
    login.decide(d, have)
    local what = dir.goes and ("the user with %s and its content"):format(have.home) or dir.kept and "the user without the home: " .. dir.kept
    if #d.actions > 0 and what then d.actions = { { "remove", "removed " .. what, intent = "remove " .. what } } end
    return d
  end,

  leaves = require("std.useradd").leaves,

  programs = require("std.useradd").programs,

  recreate = require("std.recreate").user,

  perform = function(action, want, have, host)
    if action == "remove" then
      return accounts.run(host, "userdel", want.name) or home.remove(host, want, have)
    end
    local new = action == "create"
    local function differs(property) return want[property] and (new or want[property] ~= have[property]) end
    local function finish()
      shadow.change(want, have, host, differs, new)
      subids.change(want, host)
      gshadow.add_admin(host, want.name, want.admin_groups or {})
      local now = accounts.users(host)[want.name] -- none in a spec, where useradd does nothing
      if now and differs "ssh_key" then ssh.generate(host, want.name, want.ssh_key, ssh.file(want, now)) end
    end
    local options = {}
    local function option(given, ...) options = given and tbl.concat(options, { ... }) or options end
    option(differs "uid", "--uid", want.uid, want.non_unique and "--non-unique" or nil)
    option(differs "group", "--gid", want.group)
    option(differs "comment", "--comment", want.comment)
    option(differs "shell", "--shell", want.shell)
    option(want.groups and not tbl.equal(tbl.sort(want.groups), tbl.sort(have.groups or {})), "--groups", str.join(want.groups or {}, ","))
    if have.parents then host.mkdir(path.dir(have.made or want.home)) end
    if new then
      if not want.group then
        local own = accounts.groups(host)[want.name]
        options = tbl.concat(options, own and { "--gid", want.name } or { "--user-group" })
      end
      option(want.home, "--home-dir", want.home)
      option(want.system, "--system")
      option(true, have.managed and "--create-home" or "--no-create-home", unpack(subids.options(want)))
      accounts.run(host, "useradd", options, want.name)
      return finish()
    end
    option(want.groups and want.membership == "minimum" and tbl.contains(options, "--groups"), "--append")
    option(differs "home", "--home", want.home)
    option(differs "home" and want.manage_home and not have.stays, "--move-home")
    if #options > 0 then login.change(host, options, want, have) end
    if have.lost then login.make_home(host, accounts.users(host)[want.name], have.lost) end
    finish()
  end,
}
