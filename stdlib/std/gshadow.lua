-- The entries of groups in /etc/gshadow (gshadow(5)): passwords and administrators, for the types group and user.

local gshadow = {}

-- The fields of each entry, by group: name, password, administrators, members.
local function entries(host)
  local all = {}
  for _, line in ipairs(str.lines(host.read "/etc/gshadow" or "")) do
    local f = str.split(line, ":")
    if #f > 2 then all[f[1]] = { password = f[2], admins = f[3] ~= "" and str.split(f[3], ",") or {} } end
  end
  return all
end

--- Returns the password, nil for none that anybody could know, and the administrators of a group, as properties.
function gshadow.found(host, group)
  local e = entries(host)[group] or { admins = {} }
  return { password = e.password ~= "!" and e.password ~= "" and e.password or nil, admins = e.admins }
end

--- Returns the sorted names of the groups that a user administers.
function gshadow.groups_of(host, user)
  local all = entries(host)
  return tbl.sort(tbl.filter(tbl.keys(all), function(name) return tbl.contains(all[name].admins, user) end))
end

--- Returns the present value of the property admin_groups of a user, in which only the wanted groups count.
function gshadow.groups_found(want, host)
  if not want.admin_groups then return {} end
  return { admin_groups = tbl.filter(gshadow.groups_of(host, want.name), function(g) return tbl.contains(want.admin_groups, g) end) }
end

-- Runs gpasswd or chgpasswd below the root directory.
local function run(host, command, words, stdin)
  local root = host.root ~= "/" and { "--root", host.root } or {}
  host.run(tbl.merge(tbl.concat({ command }, root, words), { below_root = true, stdin = stdin }))
end

--- Replaces the administrators of a group.
function gshadow.set_admins(host, group, admins) run(host, "gpasswd", { "--administrators", str.join(admins, ","), group }) end

--- Makes a user an administrator of the groups too.
function gshadow.add_admin(host, user, groups)
  for _, g in ipairs(groups) do
    local admins = gshadow.found(host, g).admins
    if not tbl.contains(admins, user) then gshadow.set_admins(host, g, tbl.concat(admins, { user })) end
  end
end

--- Replaces the encrypted password of a group. All users can read the arguments of a process, but not its standard
--- input.
function gshadow.set_password(host, group, password) run(host, "chgpasswd", { "--encrypted" }, group .. ":" .. password .. "\n") end

--- Fails unless groups can have administrators, if any are wanted: the list is of them, or of groups.
function gshadow.check(host, list)
  if not list or #list == 0 then return end
  if not host.read "/etc/gshadow" then error("/etc/gshadow does not exist, and administrators of groups are listed there (grpconv creates it)", 0) end
end

return gshadow
