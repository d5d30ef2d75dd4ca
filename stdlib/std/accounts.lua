-- Reads the users and groups of a machine, and runs the commands that change
-- them, for the types user and group.

local accounts = {}

--- Whether useradd and groupadd take a name.
function accounts.is_name(name) return re.test(name, [[^[a-z_][a-z0-9_.-]*\$?$]]) and #name <= 32 end

-- The lines of a file as lists of fields, by the first one.
local function records(host, file)
  local all = {}
  for _, l in ipairs(str.lines(host.read(file) or "")) do
    local fields = str.split(l, ":")
    if #fields > 2 and not all[fields[1]] then all[fields[1]] = fields end
  end
  return all
end

--- Returns the groups of the machine, by name.
function accounts.groups(host)
  return tbl.map_values(records(host, "/etc/group"), function(f)
    return { name = f[1], gid = tonumber(f[3]), members = f[4] and f[4] ~= "" and str.split(f[4], ",") or {} }
  end)
end

--- Returns the users of the machine, by name.
function accounts.users(host)
  return tbl.map_values(records(host, "/etc/passwd"), function(f)
    return { name = f[1], uid = tonumber(f[3]), gid = tonumber(f[4]), comment = f[5] or "", home = f[6] or "", shell = f[7] or "" }
  end)
end

--- Returns the names of the groups that a user is a member of, sorted.
function accounts.groups_of(host, user)
  local names = {}
  for name, g in tbl.pairs(accounts.groups(host)) do
    if tbl.contains(g.members, user) then names[#names + 1] = name end
  end
  return tbl.sort(names)
end

--- Returns the encrypted password of a user, or nil.
function accounts.password(host, user)
  local entry = records(host, "/etc/shadow")[user]
  return entry and entry[2]
end

--- Runs a command on the machine of host. The words may be lists, and false or
--- nil leaves one out.
function accounts.run(host, command, ...)
  local words = { command }
  if host.root ~= "/" then words = { command, "--prefix", host.root } end
  for i = 1, select("#", ...) do
    local w = select(i, ...)
    for _, x in ipairs(type(w) == "table" and w or { w or nil }) do words[#words + 1] = tostring(x) end
  end
  host.run(words)
end

return accounts
