-- directory: keeps a copy of a directory of the site, as one resource, or the owner and the
-- permissions of all that is in a directory.
--
--   std.directory { "/srv/app", owner = "app", group = "app", mode = "u=rwX,go=rX", recurse = true }
--   std.directory { "/srv/www", source = "files/www", owner = "root", group = "www-data", purge = true }
--   std.directory { "/etc/nginx/conf.d", purge = true, exclude = { "local-*.conf" } }

local safepath = require "std.safepath"

-- Whether a mode depends on the present one, as u=rwX does.
local function symbolic(mode) return mode and mode:find("[-+=]") ~= nil end

-- The mode of directories, nil if it is not managed.
local function dir_mode(want) return want.dir_mode or symbolic(want.mode) and want.mode or nil end

return ccm.type {
  name = "directory", commands = {},
  doc = "Manages a directory, with its owner and permissions. It can copy the files of a directory of the site, and manage the owner and permissions of its content.",
  properties = {
    path = { type = "path", name = true, doc = "The path of the directory.", example = "/srv/www" },
    source = { type = "path", relative = true, doc = "The directory to copy. A relative path starts at the directory of the script or manifest. If unset, only the directory itself is managed, and with recurse its content." },
    recurse = { type = "boolean", default = false, doc = "Whether owner, group and permissions also apply to the content. Links are changed, not followed. Not with source." },
    owner = { one_line = true, kind = "owner", doc = "The owner of the directory and its content, by name or number." },
    group = { one_line = true, kind = "group", doc = "The group of the directory and its content, by name or number." },
    mode = { type = "mode_change", doc = "The permissions of the files, or a mode such as u=rwX,go=rX for files and directories: X is x for directories and executable files. Such a mode cannot be used with source. If unset, new files get the permissions of their source, existing files keep theirs." },
    dir_mode = { type = "mode", doc = "The permissions of the directories. If unset, new ones get 0755, existing ones keep theirs." },
    exclude = { type = "list", one_line = true, doc = "Patterns such as *.bak. Files whose name or path matches are not copied, and recurse ignores them; so does purge without a source." },
    purge = { type = "boolean", default = false, doc = "Whether to remove files that are not in the source, including those that exclude matches. Without a source, whether to remove everything that the site does not declare; skipped and unselected resources count as declared. A declared path includes its content. Links are removed, not followed, and other file systems are not touched. /etc, homes and so on are refused." },
    links = { enum = { "refuse", "follow", "replace" }, default = "refuse", doc = "How to handle a symbolic link at the path of a copy: refuse fails, follow writes to its target, replace replaces the link. A link of another user is followed only to files of that user." },
    hardlinks = { enum = { "replace", "keep" }, default = "replace", doc = "How to handle a file with several hard links when a copy changes its content. With replace, the other names keep the old content; with keep, the file is written in place." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the directory should exist. With absent it is removed with everything that runs created in it; other data is kept, unless with_data = true." },
  },

  validate = function(want)
    if want.source and want.recurse then return "recurse", "cannot be used with source" end
    if want.ensure == "present" and not want.source and not want.recurse and want.mode and not dir_mode(want) then
      return "mode", ("applies to files, and requires source or recurse; use dir_mode = %q for the directory"):format(want.mode)
    end
    if want.recurse and not (want.owner or want.group or want.mode or want.dir_mode) then return "recurse", "requires owner, group, mode or dir_mode" end
    if want.source and symbolic(want.mode) then return "mode", "a mode such as u=rwX cannot be used with source" end
    if want.purge and want.ensure == "present" and not want.source and safepath.is_precious(want.path) then
      return "purge", "cannot purge " .. want.path .. ", which the system or a user needs (use a directory below it)"
    end
    if want.path == "/" then return "path", "expected a directory below /" end
  end,

  -- The status lists the differences: files to copy, entries with a wrong owner or mode, entries to remove.
  status = function(want, host)
    if want.ensure == "present" then safepath.check_copy(want, host) end
    local top = host.stat(want.path)
    if top then safepath.check_directory(host, want.path, top) end
    local have = { ensure = top and "present" or "absent", copy = {}, attributes = {}, extra = {} }
    if want.ensure == "absent" and top then
      local _, keeps = host.kept_data(want.path, { like = want.source })
      have.keeps = keeps
    end
    if want.ensure == "absent" or not top and not want.source then return have end
    local found = host.compare(want.source, want.path, {
      exclude = want.exclude, owner = want.owner, group = want.group, mode = want.mode, dir_mode = dir_mode(want), recurse = want.recurse, links = want.links,
    })
    if found.clash then error(found.clash, 0) end
    have.copy, have.attributes, have.bytes = tbl.concat(found.changed, found.missing), found.attributes, found.bytes
    if want.purge and top then have.extra = want.source and found.extra or host.undeclared(want.path, { exclude = want.exclude }) end
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
    differs(have.copy, "source", "as in " .. (want.source or ""), "copied")
    differs(have.attributes, want.mode and "mode" or want.owner and "owner" or want.group and "group" or "dir_mode", "as desired", "updated the attributes of")
    differs(have.extra, "purge", "removed", "purged")
    if #diff == 0 then return end
    return { diff = diff, actions = { { "copy", str.join(done, ", ") } } }
  end,

  leaves = function(want, have)
    if want.ensure == "absent" then return { { path = want.path, kind = "absent", keeps = have and have.keeps } } end
    local open = not have or #have.copy + #have.attributes > 0 or want.source ~= nil and have.ensure == "absent"
    local left = { { path = want.path, kind = "directory", owner = want.owner, group = want.group, mode = dir_mode(want), open = open, size = have and have.bytes } }
    for _, p in ipairs(have and have.extra or {}) do left[#left + 1] = { path = path.join(want.path, p), kind = "absent" } end
    return left, want.source ~= nil and want.links == "follow"
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(want.path, { recursive = true }) end
    if have.ensure == "absent" and not want.source then
      host.mkdir(want.path, { owner = want.owner, group = want.group, mode = want.dir_mode })
      if dir_mode(want) then host.chmod(want.path, dir_mode(want)) end
    end
    if want.source and (have.ensure == "absent" or #have.copy > 0) then
      local names = have.ensure == "absent" and tbl.concat(have.copy, { "." }) or have.copy
      host.copy_tree(want.source, want.path, names, {
        owner = want.owner, group = want.group, mode = want.mode, dir_mode = want.dir_mode, links = want.links, hardlinks = want.hardlinks,
      })
    end
    for _, p in ipairs(have.attributes) do
      local target = path.join(want.path, p)
      local kind = host.stat(target).kind
      local mode = kind == "directory" and dir_mode(want) or kind == "file" and want.mode
      if want.owner or want.group then host.chown(target, want.owner, want.group) end
      if mode then host.chmod(target, mode) end
    end
    for _, p in ipairs(tbl.reverse(tbl.sort(have.extra))) do host.remove(path.join(want.path, p), { recursive = not want.source }) end
  end,
}
