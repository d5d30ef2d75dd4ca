-- directory: keeps a copy of a directory of the site, as one resource.
--
--   local directory = require "std.directory"
--   directory { "/srv/www", source = "files/www", owner = "root", group = "www-data", purge = true }

-- What is to be below the directory, by path.
local function wanted(want, host)
  local list = {}
  for _, e in ipairs(host.tree(want.source, { source = true })) do
    if e.kind ~= "file" and e.kind ~= "directory" then
      error(("%s/%s: want files and directories, found a %s"):format(want.source, e.path, e.kind), 0)
    end
    local left_out = tbl.any(want.exclude or {}, function(p) return path.match(p, e.path) or path.match(p, path.base(e.path)) end)
    if not left_out and (path.dir(e.path) == "." or list[path.dir(e.path)]) then list[e.path] = e end
  end
  return list
end

return ccm.type {
  name = "directory",
  doc = "Keeps a directory with copies of the files in a directory of the site.",
  properties = {
    path = { type = "path", name = true, doc = "Where the directory is.", example = "/srv/www" },
    source = { type = "path", relative = true, doc = "The directory to copy. A relative path is relative to the script or manifest that says it. It is required unless ensure is absent." },
    owner = { doc = "The user that owns all of it, by name or number." },
    group = { doc = "The group of all of it, by name or number." },
    mode = { type = "mode", doc = "The permissions of the files. Left out, a file has those of its source when it is made, and keeps those that it has." },
    dir_mode = { type = "mode", doc = "The permissions of the directories. Left out, they are made with 0755 and keep those that they have." },
    exclude = { type = "list", doc = "Patterns such as *.bak: what matches one, by its name or by its path, is not copied." },
    purge = { type = "boolean", default = false, doc = "Whether to remove what the source does not have. What exclude matches is removed too." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether there is to be a directory. With absent it is removed with all that is in it." },
  },

  validate = function(want)
    if want.ensure == "present" and not want.source then return "source is required unless ensure is absent" end
    if want.path == "/" then return "path", "want a directory below /" end
  end,

  -- What is found is what differs: files to copy, entries with the wrong owner or
  -- mode, entries too many.
  status = function(want, host)
    local top = host.stat(want.path)
    if not top then return { ensure = "absent", copy = {}, attributes = {}, extra = {} } end
    if top.kind ~= "directory" then error("want a directory, found a " .. top.kind .. ", which is not replaced", 0) end
    local have = { ensure = "present", copy = {}, attributes = {}, extra = {} }
    if want.ensure == "absent" then return have end
    local found = host.compare(want.source, want.path, {
      exclude = want.exclude, owner = want.owner, group = want.group, mode = want.mode, dir_mode = want.dir_mode,
    })
    if found.clash then error(found.clash, 0) end
    have.copy, have.attributes = tbl.concat(found.changed, found.missing), found.attributes
    if want.purge then have.extra = found.extra end
    return have
  end,

  decide = function(want, have)
    if want.ensure == "absent" then
      if have.ensure == "absent" then return end
      return { diff = { { "ensure", "present", "absent" } }, actions = { { "remove", "removed the directory" } } }
    end
    if have.ensure == "absent" then
      return { diff = { { "ensure", "absent", "present" } }, actions = { { "copy", "created the directory" } } }
    end
    local diff, done = {}, {}
    local function differs(list, property, what, participle)
      if #list == 0 then return end
      local names = str.join(tbl.slice(list, 1, 5), ", ") .. (#list > 5 and (" and %d more"):format(#list - 5) or "")
      table.insert(diff, { property, names, what })
      table.insert(done, ("%s %d %s"):format(participle, #list, #list == 1 and "entry" or "entries"))
    end
    differs(have.copy, "source", "as in " .. path.base(want.source), "copied")
    differs(have.attributes, want.mode and "mode" or want.owner and "owner" or want.group and "group" or "dir_mode", "as wanted", "updated the attributes of")
    differs(have.extra, "purge", "removed", "purged")
    if #diff == 0 then return end
    return { diff = diff, actions = { { "copy", str.join(done, ", ") } } }
  end,

  leaves = function(want, have)
    if want.ensure == "absent" then return { { path = want.path, kind = "absent" } } end
    local open = not have or have.ensure == "absent" or #have.copy + #have.extra + #have.attributes > 0
    return { { path = want.path, kind = "directory", owner = want.owner, group = want.group, mode = want.dir_mode, open = open } }
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(want.path, { recursive = true }) end
    local attr = { owner = want.owner, group = want.group }
    local dir_attr = tbl.merge(attr, { mode = want.dir_mode })
    local list = wanted(want, host)
    host.mkdir(want.path, dir_attr)
    local function put(p)
      local target, found = path.join(want.path, p), host.stat(path.join(want.path, p))
      if list[p].kind == "directory" then return host.mkdir(target, dir_attr) end
      local mode = want.mode or found and found.mode or list[p].mode
      host.copy(path.join(want.source, p), target, tbl.merge(attr, { mode = mode }))
    end
    local all = have.ensure == "absent" and tbl.keys(list) or have.copy
    for _, p in ipairs(tbl.sort(all)) do put(p) end
    for _, p in ipairs(have.attributes) do
      local target = path.join(want.path, p)
      local mode = host.stat(target).kind == "directory" and want.dir_mode or list[p] and list[p].kind == "file" and want.mode
      if want.owner or want.group then host.chown(target, want.owner, want.group) end
      if mode then host.chmod(target, mode) end
    end
    for _, p in ipairs(tbl.reverse(tbl.sort(have.extra))) do host.remove(path.join(want.path, p)) end
  end,
}
