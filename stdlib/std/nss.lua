-- Users and groups of directory services such as LDAP and NIS, which nsswitch.conf(5) names, and members of groups in
-- /etc/group who come from there, for the types user, group and cron.

local nss = {}

-- Whether all users or groups are in files, so that nobody else has to be asked.
local function only_files(host, database)
  local m = re.match(host.read "/etc/nsswitch.conf" or "", [[(?m)^\s*]] .. database .. [[:(.*)$]])
  return m and #tbl.filter(str.fields((m[1]:gsub("#.*", ""))), function(s) return s ~= "files" end) == 0
end

--- Returns the line of getent for a user or group, nil if there is none. Database is passwd or group. A machine that is
--- only a directory has no directory service.
function nss.entry(host, database, name)
  local pending = database == "group" and host.pending_group or host.pending_user
  local getent = host.root == "/" and not pending(name) and not only_files(host, database) and host.which "getent"
  local line = getent and host.query { getent, database, name, check = false } or ""
  return line ~= "" and line or nil
end

--- Whether a directory service has a user of that name.
function nss.has_user(host, name) return str.starts(nss.entry(host, "passwd", name) or "", name .. ":") end

--- Fails if a directory service has the user or group, which is not in the file, so that it cannot be made there. The
--- command is useradd or groupadd.
function nss.refuse(host, database, name, command)
  if not str.starts(nss.entry(host, database, name) or "", name .. ":") then return end
  local what = database == "passwd" and "user" or "group"
  error(("the %s %s exists in a directory service but not in /etc/%s, so %s cannot create it (see getent %s %s)"):format(
    what, name, database, command, database, name), 0)
end

-- gpasswd, unlike usermod, takes users who are not in /etc/passwd.
local function gpasswd(host, option, user, group)
  host.run(tbl.merge(tbl.concat({ "gpasswd" }, host.root ~= "/" and { "--root", host.root } or {}, { option, user, group }), { below_root = true }))
end

--- Makes a user of a directory service a member of a group in /etc/group.
function nss.add_member(host, user, group) gpasswd(host, "--add", user, group) end

--- Takes a user who is not in /etc/passwd, or no longer anywhere, out of a group in /etc/group.
function nss.remove_member(host, user, group) gpasswd(host, "--delete", user, group) end

return nss
