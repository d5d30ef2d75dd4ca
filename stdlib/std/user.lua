-- user: keeps a user of the system.
--
--   local user = require "std.user"
--   user { "deploy", shell = "/bin/bash", groups = { "www-data" } }
--   user { "nobody-needs-this", ensure = "absent", manage_home = true }

local accounts = require "std.accounts"

return ccm.type {
  name = "user",
  doc = "Keeps a user in /etc/passwd, with useradd and its like.",
  properties = {
    name = { name = true, doc = "The name of the user.", example = "deploy" },
    uid = { type = "integer", doc = "The number of the user. Left out, the system chooses one." },
    group = { doc = "The name of the group that is the user's own. Left out, a new user gets one of the same name." },
    groups = { type = "list", set = true, doc = "The names of further groups that the user is in. They must be there." },
    membership = { enum = { "minimum", "exact" }, default = "minimum", doc = "Whether the user may be in other groups too." },
    comment = { doc = "The full name, or what the user is for." },
    home = { type = "path", doc = "The home directory." },
    manage_home = { type = "boolean", default = false, doc = "Whether the home directory is made, moved and removed with the user." },
    shell = { type = "path", doc = "What is run when the user logs in." },
    password = { secret = true, doc = "The password as crypt(3) makes it, such as with mkpasswd. * is none that fits." },
    system = { type = "boolean", default = false, doc = "Whether the number of a new user is one of those for services." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether there is to be such a user." },
  },

  validate = function(want)
    if not accounts.is_name(want.name) then return "name", "want the name of a user, got " .. inspect(want.name) end
    if want.comment and want.comment:find("[:\r\n]") then return "comment", "want one line without colons" end
    if want.password and want.password:find("[:%s]") then return "password", "want an encrypted password" end
  end,

  status = function(want, host)
    local found = accounts.users(host)[want.name]
    if not found then return { ensure = "absent" } end
    local have = tbl.pick(found, { "uid", "comment", "home", "shell" })
    have.ensure = "present"
    for name, g in tbl.pairs(accounts.groups(host)) do
      if g.gid == found.gid then have.group = name end
    end
    have.all = accounts.groups_of(host, want.name)
    have.groups = have.all
    if want.membership == "minimum" then
      -- Only those count that are wanted.
      have.groups = tbl.filter(want.groups or {}, function(g) return tbl.contains(have.all, g) end)
    end
    if want.password then have.password = accounts.password(host, want.name) or "" end
    return have
  end,

  leaves = function(want)
    if want.ensure == "absent" then return {}, true end
    local list = { { user = want.name, uid = want.uid } }
    if not want.group then list[2] = { group = want.name } end
    return list, true
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return accounts.run(host, "userdel", want.manage_home and "--remove", want.name) end
    local new = action == "create"
    local function differs(property) return want[property] and (new or want[property] ~= have[property]) end
    -- Everybody can read the arguments of a command, and nobody its standard input.
    local function set_password()
      if not differs "password" then return end
      local words = { "chpasswd", "--encrypted", stdin = want.name .. ":" .. want.password .. "\n" }
      if host.root ~= "/" then words[3], words[4] = "--root", host.root end
      host.run(words)
    end
    local options = {}
    local function option(given, ...)
      if given then options = tbl.concat(options, { ... }) end
    end
    option(differs "uid", "--uid", want.uid)
    option(differs "group", "--gid", want.group)
    option(differs "comment", "--comment", want.comment)
    option(differs "shell", "--shell", want.shell)
    option(want.groups and not tbl.equal(tbl.sort(want.groups), tbl.sort(have.groups or {})),
      "--groups", str.join(want.groups or {}, ","))
    if new then
      if not want.group then
        local own = accounts.groups(host)[want.name]
        options = tbl.concat(options, own and { "--gid", want.name } or { "--user-group" })
      end
      option(want.home, "--home-dir", want.home)
      option(want.system, "--system")
      option(true, want.manage_home and "--create-home" or "--no-create-home")
      accounts.run(host, "useradd", options, want.name)
      return set_password()
    end
    option(want.groups and want.membership == "minimum" and tbl.contains(options, "--groups"), "--append")
    option(differs "home", "--home", want.home)
    option(differs "home" and want.manage_home, "--move-home")
    if #options > 0 then accounts.run(host, "usermod", options, want.name) end
    set_password()
  end,
}
