-- The entry of a user in /etc/shadow (shadow(5)), for the type user: the encrypted password, and the ageing of the
-- password and the account.

local accounts, subids, shadow = require "std.accounts", require "std.subids", {}

-- The form of an encrypted password: the prefix of a method, or letters of the old ones. A text that begins with * or
-- ! matches no password.
local crypted = [[^([!*]|\$[^$]+\$|[./0-9A-Za-z]{13}$|_[./0-9A-Za-z]{19}$)]]

-- The properties for ageing and the options of chage for them.
local ageing = {
  { "min_days", "--mindays" }, { "max_days", "--maxdays" }, { "warn_days", "--warndays" }, { "inactive_days", "--inactive" },
  { "expires", "--expiredate" }, { "last_change", "--lastday" },
}

--- Returns the mistake in an encrypted password, as validate of a type does.
function shadow.password_mistake(password)
  if password and (password:find("[:%s]") or not re.test(password, crypted)) then
    return "password", "expected a password hash from crypt(3), which begins with $, not clear text (create one with mkpasswd; * disables the password)"
  end
end

--- Returns the mistake in the properties, as validate of a type does.
function shadow.mistake(want)
  for _, p in ipairs { "comment", "home", "shell" } do
    if want[p] and want[p]:find(":", 1, true) then return p, "expected a string without colons" end
  end
  for _, p in ipairs { "expires", "last_change" } do
    local date = want[p]
    if date and date ~= "never" and not (re.test(date, [[^\d{4}-\d\d-\d\d$]]) and pcall(time.parse, date)) then
      return p, "expected a date such as 2027-01-31, or never"
    end
  end
  for _, a in ipairs(ageing) do
    local days = want[a[1]]
    if type(days) == "number" and days < -1 then return a[1], "expected days, or -1 for none" end
  end
  local property, mistake = subids.mistake(want)
  if property then return property, mistake end
  return shadow.password_mistake(want.password)
end

-- The entry of a user: the encrypted password, days, -1 for none, and the dates on which the account expires and the
-- password was changed, or never.
local function entry(host, user)
  local text = "\n" .. (host.read("/etc/shadow") or "")
  local at = text:find("\n" .. user .. ":", 1, true)
  local f = at and str.split(text:match("[^\n]+", at), ":") or {}
  local function days(i) return tonumber(f[i]) or -1 end
  local function date(i) return days(i) >= 0 and time.format(days(i) * 86400, "%Y-%m-%d") or "never" end
  return {
    password = f[2] or "", locked = str.starts(f[2] or "", "!"), inactive_days = days(7), min_days = days(4), max_days = days(5), warn_days = days(6),
    expires = date(8), last_change = date(3),
  }
end

--- Returns the state of a user who is not there. Fails if the user, who has no password, is to have one that is not
--- locked.
function shadow.missing(want)
  if want.locked == false and not want.password and want.ensure == "present" then
    error("the user does not have a password to unlock (set password)", 0)
  end
  return { ensure = "absent" }
end

--- Returns the present values of the wanted properties. Without any the file is not read. closed is set if the user
--- has a password that is locked.
function shadow.found(want, host)
  local names = tbl.filter(tbl.map(ageing, function(a) return a[1] end), function(p) return want[p] ~= nil end)
  if want.locked ~= nil then table.insert(names, "locked") end
  if want.password and want.update_password == "always" then table.insert(names, "password") end
  if #names == 0 then return {} end
  local e = entry(host, want.name)
  local hash = e.password:match "^!+([^!*].*)$"
  if e.locked and not hash then shadow.missing(want) end
  if hash == want.password then e.password = hash end -- it is the wanted one, locked or not
  return tbl.merge(tbl.pick(e, names), { closed = hash ~= nil })
end

--- Returns the properties for the entry of a user, {} if there is none. An empty password is left out.
function shadow.recorded(want, host)
  if not str.contains("\n" .. (host.read("/etc/shadow") or ""), "\n" .. want.name .. ":") then return {} end
  local e = entry(host, want.name)
  if not re.test(e.password, crypted) then e.password = nil end
  e.locked = e.locked and e.password ~= nil or nil
  return e
end

--- Whether chage has to change something of a user: busybox has none, and its new users have the defaults.
function shadow.needs_chage(want, differs, new)
  local usual = { min_days = 0, max_days = 99999, warn_days = 7, inactive_days = -1, expires = "never" }
  return tbl.any(ageing, function(a) return differs(a[1]) and not (new and want[a[1]] == usual[a[1]]) end)
end

--- Changes the properties for which differs(property) is true. new is set if the user was just created. A password that
--- is locked stays locked, unless locked = false.
function shadow.change(want, have, host, differs, new)
  local root = host.root ~= "/" and { "--root", host.root } or {}
  local locked = want.locked == true or want.locked == nil and have.closed
  local sets = differs "password" and (new or want.update_password == "always")
  if sets then
    local text = (locked and not str.starts(want.password, "!") and "!" or "") .. want.password
    -- All users can read the arguments of a process, but not its standard input.
    host.run(tbl.merge(tbl.concat({ "chpasswd", "--encrypted" }, root), { below_root = true, stdin = want.name .. ":" .. text .. "\n" }))
  elseif not new and want.locked ~= nil and want.locked ~= have.locked then
    accounts.run(host, "usermod", locked and "--lock" or "--unlock", want.name)
  end
  local words, now = {}, new and shadow.recorded(want, host) or {}
  for _, a in ipairs(ageing) do
    -- A new password is one of today.
    local sets_day = sets and a[1] == "last_change" and want.last_change
    if (differs(a[1]) or sets_day) and now[a[1]] ~= want[a[1]] then
      words = tbl.concat(words, { a[2], want[a[1]] == "never" and -1 or want[a[1]] })
    end
  end
  if #words > 0 then host.run(tbl.merge(tbl.concat({ "chage" }, root, words, { want.name }), { below_root = true })) end
end

return shadow
