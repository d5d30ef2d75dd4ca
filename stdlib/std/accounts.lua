-- Reads the users and groups of a machine, and runs the commands that change them, for the types user and group.

local accounts, busybox, nss = {}, require "std.busybox", require "std.nss"

--- Whether a name can be that of a user or group. Which letters useradd and groupadd accept is a matter of the system.
function accounts.is_name(name) return re.test(name, [[^[A-Za-z0-9_][A-Za-z0-9_.-]*\$?$]]) and not re.test(name, [[^\d+$]]) and #name <= 32 end

-- Parsed files by path, with their texts: every user and group of a site reads them again, and an unchanged text is
-- parsed once.
local known = {}

local function parsed(host, file, parse)
  local text = host.read(file) or ""
  if not known[file] or known[file].text ~= text then known[file] = { text = text, found = parse(text) } end
  return known[file].found
end

-- The lines of a text as lists of fields, by the first field.
local function records(text)
  local all = {}
  for _, l in ipairs(str.lines(text)) do
    local fields = str.split(l, ":")
    if #fields > 2 and not all[fields[1]] then all[fields[1]] = fields end
  end
  return all
end

-- The groups of the machine: by name, their names by number, and their names by member.
local function groups(host)
  return parsed(host, "/etc/group", function(text)
    local by = { name = {}, gid = {}, member = {} }
    for name, f in tbl.pairs(records(text)) do
      local g = { name = name, gid = tonumber(f[3]), members = f[4] and f[4] ~= "" and str.split(f[4], ",") or {} }
      by.name[name] = g
      if g.gid then by.gid[g.gid] = name end
      for _, m in ipairs(tbl.unique(g.members)) do
        by.member[m] = by.member[m] or {}
        table.insert(by.member[m], name)
      end
    end
    return by
  end)
end

--- Returns the groups of the machine, by name.
function accounts.groups(host) return groups(host).name end

--- Returns a group as it will be at the turn of this resource, nil if there will be none. In a plan, gid may be nil
--- for a group that an earlier resource makes.
function accounts.group(host, name)
  local found, pending = groups(host).name[name], host.pending_group(name)
  if not pending then return found end
  if pending.ensure == "absent" or pending.ensure == "unknown" and not found then return nil end
  found = found or { name = name, members = {} }
  return tbl.merge(found, { gid = pending.gid or found.gid, members = tbl.unique(tbl.concat(found.members, pending.members)) })
end

--- Whether there will be a user at the turn of this resource.
function accounts.has_user(host, name)
  local pending = host.pending_user(name)
  return pending and pending.ensure == "present" or not pending and accounts.users(host)[name] ~= nil
end

--- Fails unless has_user is true, or a directory service such as LDAP has the user. With by_number the name may be the
--- number of a user. A machine that is only a directory may have no users at all.
function accounts.check_user(host, name, what, by_number)
  if accounts.has_user(host, name) or not host.read "/etc/passwd" then return end
  local function fits(u) return u.uid == tonumber(name) and accounts.has_user(host, u.name) end
  if by_number and tbl.any(tbl.values(accounts.users(host)), fits) then return end
  local entry = nss.entry(host, "passwd", name) or ""
  if str.starts(entry, name .. ":") or by_number and entry:match "^[^:]*:[^:]*:(%d+):" == name then return end
  error(("no such user %s, %s"):format(inspect(name), what), 0)
end

--- Returns the name of the group with a number, or nil.
function accounts.group_name(host, gid) return groups(host).gid[gid] end

--- Returns the users of the machine, by name.
function accounts.users(host)
  return parsed(host, "/etc/passwd", function(text)
    return tbl.map_values(records(text), function(f)
      return { name = f[1], uid = tonumber(f[3]), gid = tonumber(f[4]), comment = f[5] or "", home = f[6] or "", shell = f[7] or "" }
    end)
  end)
end

--- Returns a user as it will be at the turn of this resource, nil if there will be none. In a plan, uid and gid may be
--- nil for a user that an earlier resource makes; group is the name of its own group then.
function accounts.user(host, name)
  local found, pending = accounts.users(host)[name], host.pending_user(name)
  if not pending then return found end
  if pending.ensure == "absent" or pending.ensure == "unknown" and not found then return nil end
  return tbl.merge(found or { name = name, group = pending.group }, { uid = pending.uid, home = pending.home })
end

--- Returns the sorted names of the groups that a user is a member of.
function accounts.groups_of(host, user) return tbl.sort(groups(host).member[user] or {}) end

--- Runs a command of shadow, or what busybox has in place of it, on the machine of host. Its words may be lists; false and nil are left out.
function accounts.run(host, command, ...)
  local words = {}
  for i = 1, select("#", ...) do
    local w = select(i, ...)
    for _, x in ipairs(type(w) == "table" and w or { w or nil }) do words[#words + 1] = tostring(x) end
  end
  if busybox.program(host, command) ~= command then
    for _, c in ipairs(busybox.commands(command, words)) do host.run(c) end
    return
  end
  if host.root ~= "/" then
    -- With --prefix, usermod would look up the group of --gid on this machine.
    local moves = command == "usermod" and tbl.contains(words, "--gid")
    words = tbl.concat({ moves and "--root" or "--prefix", host.root }, words)
  end
  host.run(tbl.merge(tbl.concat({ command }, words), { below_root = true, changes = { "/etc/subuid", "/etc/subgid" } }))
end

return accounts
