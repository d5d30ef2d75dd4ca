-- The commands of busybox that make and remove users and groups, in place of those of shadow, for the types user and
-- group. Busybox has none that change them.

local busybox = {}

local programs = { useradd = "adduser", userdel = "deluser", groupadd = "addgroup", groupdel = "delgroup" }

--- Returns the program that does the work of one of shadow: that of busybox if only that is there. With the properties
--- of a user or group to make, it is that of shadow if busybox cannot.
function busybox.program(host, name, want)
  local other = programs[name]
  if want and want.non_unique and str.ends(name, "add") then return name end
  return other and host.root == "/" and not host.which(name) and host.which(other) and other or name
end

-- The options of useradd and groupadd: the letter that busybox has, and whether a value follows.
local options = {
  ["--uid"] = { "-u", true }, ["--gid"] = { "-G", true }, ["--comment"] = { "-g", true }, ["--shell"] = { "-s", true },
  ["--home-dir"] = { "-h", true },
  ["--groups"] = { nil, true }, ["--system"] = { "-S" }, ["--no-create-home"] = { "-H" }, ["--create-home"] = {}, ["--user-group"] = {},
  ["--key"] = { nil, true }, -- of ranges that busybox does not add
}

--- Returns the commands of busybox for a command of shadow: a list of lists of words.
function busybox.commands(name, words)
  local account = words[#words]
  local command, given, i = { programs[name] }, {}, 1
  if name == "useradd" then command = { "adduser", "-D" } end
  while i < #words do
    local option, value = words[i], words[i + 1]
    local known = options[option]
    if not known then error(("%s of busybox has no %s (install the package shadow)"):format(programs[name], option), 0) end
    local letter, has_value = unpack(known, 1, 2)
    if name == "groupadd" and option == "--gid" then letter = "-g" end
    given[option] = has_value and value or true
    command = tbl.concat(command, letter and { letter, has_value and value or nil } or {})
    i = i + (has_value and 2 or 1)
  end
  if name ~= "useradd" then return { tbl.concat(command, { account }) } end
  local list = {}
  if not given["--comment"] then command = tbl.concat(command, { "-g", "" }) end
  if not given["--shell"] then command = tbl.concat(command, { "-s", "/bin/sh" }) end -- else it is SHELL of ccm
  if given["--user-group"] and given["--system"] then -- busybox would put it into nogroup
    list[1] = { "addgroup", "-S", account }
    command = tbl.concat(command, { "-G", account })
  end
  list[#list + 1] = tbl.concat(command, { account })
  local groups = given["--groups"] and given["--groups"] ~= "" and str.split(given["--groups"], ",") or {}
  local primary = given["--gid"] or #list == 2 and account
  if primary and not tbl.contains(groups, primary) then -- adduser makes the user a member of it, too
    list[#list + 1] = { "delgroup", account, primary }
  end
  for _, g in ipairs(groups) do list[#list + 1] = { "addgroup", account, g } end
  return list
end

return busybox
