-- People who may log in: their groups, users, keys and profiles, and those who may not any
-- more. The settings are in site.yaml.
local group, user, authorized_key, block = require "std.group", require "std.user", require "std.authorized_key", require "std.block"
local want = data.load("site.yaml")

for _, g in ipairs(want.groups) do
  group { g.name, gid = ccm.optional(g.gid) }
end
for _, u in ipairs(want.users) do
  local home = u.home or "/home/" .. u.name
  local own = want.own_groups and u.name or want.group
  if want.own_groups then
    group { u.name, gid = ccm.optional(u.gid or u.uid) }
  end
  user {
    u.name,
    uid = ccm.optional(u.uid),
    comment = ccm.optional(u.comment),
    group = u.group or own,
    groups = ccm.optional(u.groups),
    membership = u.append and "minimum" or "exact",
    home = home,
    manage_home = true,
    shell = u.shell or want.shell,
    password = u.password or "!",
  }
  for i, key in ipairs(u.keys or {}) do
    authorized_key { u.name .. i, user = u.name, key = key }
  end
  if u.profile then
    block { u.name, path = home .. "/.profile", content = u.profile, create = { owner = u.name, group = own, mode = "0644" } }
  end
end
user { want.deleted, ensure = "absent" }
