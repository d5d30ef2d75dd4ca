-- The entry of a user in /etc/shadow (shadow(5)), for the type user: the encrypted password, and the ageing of the
-- password and the account.

local shadow = {}

-- The form of an encrypted password: the prefix of a method, or letters of the old ones. A text that begins with * or
-- ! matches no password.
local crypted = [[^([!*]|\$[^$]+\$|[./0-9A-Za-z]{13}$|_[./0-9A-Za-z]{19}$)]]

-- The properties for ageing and the options of chage for them.
local ageing = { { "min_days", "--mindays" }, { "max_days", "--maxdays" }, { "warn_days", "--warndays" }, { "expires", "--expiredate" } }

--- Returns the mistake in the properties, as validate of a type does.
function shadow.mistake(want)
  for _, p in ipairs { "comment", "home", "shell" } do
    if want[p] and want[p]:find(":", 1, true) then return p, "want a text without colons" end
  end
  if want.expires and want.expires ~= "never" and not (re.test(want.expires, [[^\d{4}-\d\d-\d\d$]]) and pcall(time.parse, want.expires)) then
    return "expires", "want a date such as 2027-01-31, or never"
  end
  for _, a in ipairs(ageing) do
    local days = want[a[1]]
    if type(days) == "number" and days < -1 then return a[1], "want days, or -1 for none" end
  end
  if want.password and (want.password:find("[:%s]") or not re.test(want.password, crypted)) then
    return "password", "want a password as crypt(3) makes it, which begins with $ and is no clear text (mkpasswd makes one; * is none that fits)"
  end
end

-- The entry of a user: the encrypted password, days, -1 for none, and the date on which the account expires, or
-- never.
local function entry(host, user)
  local text = "\n" .. (host.read("/etc/shadow") or "")
  local at = text:find("\n" .. user .. ":", 1, true)
  local f = at and str.split(text:match("[^\n]+", at), ":") or {}
  local function days(i) return tonumber(f[i]) or -1 end
  return {
    password = f[2] or "", min_days = days(4), max_days = days(5), warn_days = days(6),
    expires = days(8) >= 0 and time.format(days(8) * 86400, "%Y-%m-%d") or "never",
  }
end

--- Returns the present values of the wanted properties. Without any the file is not read.
function shadow.found(want, host)
  local names = tbl.filter(tbl.map(ageing, function(a) return a[1] end), function(p) return want[p] ~= nil end)
  if want.password and want.update_password == "always" then table.insert(names, "password") end
  return #names > 0 and tbl.pick(entry(host, want.name), names) or {}
end

--- Changes the properties for which differs(property) is true. new says that the user was just made.
function shadow.change(want, host, differs, new)
  local root = host.root ~= "/" and { "--root", host.root } or {}
  if differs "password" and (new or want.update_password == "always") then
    -- All users can read the arguments of a process, but not its standard input.
    host.run(tbl.merge(tbl.concat({ "chpasswd", "--encrypted" }, root), { stdin = want.name .. ":" .. want.password .. "\n" }))
  end
  local words = {}
  for _, a in ipairs(ageing) do
    if differs(a[1]) then words = tbl.concat(words, { a[2], want[a[1]] == "never" and -1 or want[a[1]] }) end
  end
  if #words > 0 then host.run(tbl.concat({ "chage" }, root, words, { want.name })) end
end

return shadow
