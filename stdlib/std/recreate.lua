-- How ccm undo makes removed things again that files do not bring back: the functions recreate of types, which get what
-- status found before the removal.

local accounts, gshadow, nss = require "std.accounts", require "std.gshadow", require "std.nss"
local shadow, subids = require "std.shadow", require "std.subids"

local recreate = {}

-- true if another account of a list has the same number, else nil.
local function shared(all, account, key)
  return tbl.any(tbl.values(all), function(a) return a.name ~= account.name and a[key] == account[key] end) or nil
end

-- The password and administrators of a group, apart from a user who is made again later.
local function kept(host, group, user)
  local e = gshadow.found(host, group)
  local admins = tbl.filter(e.admins, function(m) return m ~= user and accounts.has_user(host, m) end)
  return { name = group, password = e.password, admins = #admins > 0 and admins or nil }
end

--- The entries of a user, with those in /etc/shadow, /etc/subuid and /etc/subgid, and the own group if it goes too. The
--- home directory is not made: its files are backed up.
function recreate.user(want, have, host)
  local users = accounts.users(host)
  local u, own = users[want.name], have.takes_group and accounts.groups(host)[want.name]
  return tbl.merge({
    uid = u.uid, non_unique = shared(users, u, "uid"), group = have.group, comment = u.comment ~= "" and u.comment or nil, home = u.home, shell = u.shell ~= "" and u.shell or nil,
    groups = accounts.groups_of(host, want.name), membership = "exact", admin_groups = gshadow.groups_of(host, want.name), manage_home = false,
  }, shadow.recorded(want, host), subids.found({ name = want.name, subuids = {}, subgids = {} }, host)),
    nil, own and { { "group", tbl.merge(kept(host, own.name, want.name), { gid = own.gid, non_unique = shared(accounts.groups(host), own, "gid") }) } }
end

--- A group with its members and administrators, if they exist.
function recreate.group(want, have, host)
  local members = tbl.filter(have.all, function(m) return accounts.has_user(host, m) or nss.has_user(host, m) end)
  local others = tbl.filter(tbl.values(accounts.groups(host)), function(g) return g.gid == have.gid end)
  return tbl.merge(kept(host, want.name), { gid = have.gid, members = members, non_unique = #others > 1 or nil })
end

--- A package in the same version, a gem in all its versions or, if these are no longer available, in any.
function recreate.language_package(want, have)
  local any = tbl.merge(want, {})
  any.version = nil
  if #(have.versions or {}) > 1 then return tbl.merge(any, { versions = have.versions }), any end
  return tbl.merge(any, { version = have.version }), any
end

--- A file system that is mounted again.
function recreate.mount(want, have)
  local on = have.mounted == "it" or have.mounted == "other"
  if not have.found and not want.device then return "its device is not in /etc/fstab" end
  local entry = tbl.pick(tbl.merge(want, have.found or {}), { "device", "type", "options", "dump", "pass" })
  return tbl.merge(entry, { ensure = on and "mounted" or have.mounted and "unmounted" or "present" })
end

--- A swap area that is used again. If it was not in use, its line in fstab is all.
function recreate.swap(_, have) return have.used and { options = have.options } or nil end

--- A module that is loaded again.
function recreate.kernel_module(_, have)
  return have.state == "loaded" and have.text and { options = have.options ~= "" and have.options or nil } or nil
end

--- Rules that are loaded again.
function recreate.firewall(want, have)
  if have.running == "not loaded" then return nil end
  if have.running ~= "loaded" or have.rules == "in other lines" or have.rules == "loaded, but not saved" then return "its rules in the kernel were not those of its file" end
  return { family = want.family, rules = have.rules }
end

--- A choice among alternatives.
function recreate.alternative(want, have)
  if #have.followers > 0 then return "links that follow it, such as manual pages, are not managed by ccm" end
  if have.mode ~= "auto" and have.path ~= want.path then return "another program is selected" end
  return { path = want.path, link = have.link, priority = have.priority, ensure = have.mode == "auto" and "auto" or "present" }
end

--- A key in the database of rpm.
function recreate.package_key(want, have)
  return have.imported and { store = want.store, key = have.key ~= "" and have.key or want.key } or nil
end

--- The type of a pattern.
function recreate.selinux_context(want, have) return tbl.merge(want, { type = have.type }) end

--- A locale that is generated again.
function recreate.locale(_, have) return { default = have.default } end

--- A unit that is enabled and active as it was.
function recreate.unit(want, have)
  local single = not want.dropin and not str.contains(want.unit or want.name, "@.")
  return tbl.merge(tbl.pick(want, { "unit", "dropin" }), {
    content = have.content, enable = single and have.enable or nil, active = single and have.active or nil,
  })
end

--- The units of a timer.
function recreate.timer(want, have)
  local units = {}
  if have.service then units[1] = { "unit", { name = want.name .. ".service", content = have.service } } end
  if have.timer then units[#units + 1] = { "unit", { name = want.name .. ".timer", content = have.timer, enable = have.enabled, active = have.active } } end
  return nil, nil, units
end

return recreate
