-- alternative: manages the program behind a name, with update-alternatives.
--
--   std.alternative { "editor", path = "/usr/bin/vim.tiny" }
--   std.alternative { "java", path = "/opt/jdk/bin/java", link = "/usr/bin/java", priority = 100 }
--   std.alternative { "pager", ensure = "auto" }

local function chosen(name) return "/etc/alternatives/" .. name end

-- The record of a name, nil if it has no alternatives. The file has the mode, the link and its slaves, an empty line,
-- and for each choice its path, priority and slaves.
local function parsed(text)
  local list = str.lines(text)
  local found = { mode = list[1], link = list[2], followers = {}, priorities = {} }
  local i = 3
  while list[i] and list[i] ~= "" do
    found.followers[#found.followers + 1] = { path = chosen(list[i]) }
    found.followers[#found.followers + 1] = { path = list[i + 1] }
    i = i + 2
  end
  i = i + 1
  while list[i] and list[i] ~= "" do
    found.priorities[list[i]] = tonumber(list[i + 1]:match("%d+$"))
    i = i + 2 + #found.followers / 2
  end
  return found
end

-- An error if the program to add or choose does not exist, or the place of the link cannot be used.
local function check(want, host, have)
  if want.ensure == "absent" then return end
  if want.path and (want.link or have.priority) and not have.registered and not host.stat(want.path) then
    error("no such program: " .. want.path, 0)
  end
  if want.link and have.link ~= want.link and not host.is_directory(path.dir(want.link)) then
    error("no such directory: " .. path.dir(want.link), 0)
  end
end

-- The directories of Debian, and of Red Hat.
local directories = { "/var/lib/dpkg/alternatives/", "/var/lib/alternatives/" }

return ccm.type {
  name = "alternative",
  doc = "Manages which program a generic name runs, with update-alternatives.",
  commands = { "update-alternatives" },
  properties = {
    name = { name = true, doc = "The name of the alternatives.", example = "editor" },
    path = { type = "path", doc = "The selected program. Required unless ensure is auto.", example = "/usr/bin/vim.tiny" },
    link = { type = "path", doc = "The generic path, such as /usr/bin/editor. If set, path is added to the alternatives when it is missing.", example = "/usr/bin/editor" },
    priority = { type = "integer", doc = "The priority of path. Required with link." },
    ensure = { enum = { "present", "auto", "absent" }, default = "present", doc = "present selects path, auto selects the highest priority, absent removes path from the alternatives." },
  },
  phrases = { create = "added the alternative", update = "set the alternative", remove = "removed the alternative" },

  validate = function(want)
    if not re.test(want.name, [[^[\w.+-]+$]]) then return "name", "expected a name such as editor, got " .. inspect(want.name) end
    if not want.path and want.ensure ~= "auto" then return "path", "is required unless ensure is auto" end
    if (want.link == nil) ~= (want.priority == nil) then return "priority", "link and priority must be used together" end
    if want.link and not want.path then return "path", "is required with link" end
  end,

  status = function(want, host)
    local text
    for _, d in ipairs(directories) do text = text or host.read(d .. want.name) end
    if not text then
      check(want, host, {})
      return { ensure = "absent" }
    end
    local found, link = parsed(text), host.stat(chosen(want.name))
    local have = { mode = found.mode, ensure = found.mode == "auto" and "auto" or "present", followers = found.followers, path = link and link.target }
    local program = want.path or have.path
    have.priority, have.link = program and found.priorities[program], found.link
    if want.path and want.ensure == "absent" then have.ensure = have.priority and "present" or "absent" end
    -- update-alternatives drops a choice whose program does not exist.
    have.registered = have.priority ~= nil and host.stat(program) ~= nil
    check(want, host, have)
    if want.path and want.ensure == "auto" then have.path = have.registered and want.path or "not added" end
    return have
  end,

  decide = function(want, have, compare)
    if want.ensure ~= "absent" and not want.link then
      if have.ensure == "absent" then return { error = "no such alternatives: " .. want.name .. " (set link and priority to create them)" } end
      if want.path and not have.registered then return { error = want.path .. " is not one of the alternatives (set link and priority to add it)" } end
    end
    return compare()
  end,

  leaves = function(want, have)
    local list = { { path = chosen(want.name) }, { path = "/var/log/alternatives.log" }, { path = directories[1] .. want.name }, { path = directories[2] .. want.name } }
    if want.ensure == "present" then list[1] = { path = chosen(want.name), kind = "link", target = want.path } end
    if have and have.ensure == "absent" then
      list[#list + 1] = { path = want.link, kind = "link", target = chosen(want.name) }
    elseif have then
      list = tbl.concat(list, { { path = have.link } }, have.followers)
    end
    return list, not have
  end,

  programs = function() return { { "update-alternatives", below_root = true } } end,

  recreate = require("std.recreate").alternative,

  perform = function(action, want, have, host)
    local function run(...)
      -- Its log would have the path of the image and the time. The path of the log is one below the root: this leads out.
      local quiet = { "--root", host.root, "--log", ("/.."):rep(64) .. "/dev/null" }
      local words = tbl.concat({ "update-alternatives" }, host.root ~= "/" and quiet or {})
      host.run(tbl.merge(tbl.concat(words, { ... }), { below_root = true }))
    end
    if action == "remove" then return run("--remove", want.name, want.path) end
    if want.link and (not have.registered or have.priority ~= want.priority or have.link ~= want.link) then
      run("--install", want.link, want.name, want.path, want.priority)
    end
    if want.ensure == "auto" then run("--auto", want.name) else run("--set", want.name, want.path) end
  end,
}
