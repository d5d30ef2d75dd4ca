-- link: keeps a symbolic link.
--
--   std.link { "/etc/localtime", target = "/usr/share/zoneinfo/Europe/Berlin" }
--   std.link { "/etc/nginx/sites-enabled/default", ensure = "absent" }

return ccm.type {
  name = "link",
  doc = "Manages a symbolic link. Anything else at its path is not replaced.",
  commands = {},
  properties = {
    path = { type = "path", name = true, doc = "The path of the link.", example = "/etc/localtime" },
    target = { one_line = true, kind = "path", doc = "The target of the link, written literally. Required unless ensure is absent." },
    owner = { one_line = true, kind = "owner", doc = "The user that owns the link, by name or number." },
    group = { one_line = true, kind = "group", doc = "The group of the link, by name or number." },
    parents = { type = "boolean", doc = "Whether to create missing parent directories, with mode 0755 and the user and group that ccm runs as." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the link should exist." },
  },

  validate = function(want)
    if want.parents and want.ensure == "absent" then return "parents", "requires ensure present" end
    if want.ensure == "present" and not want.target then return "target is required unless ensure is absent" end
  end,

  status = function(want, host)
    local found = host.stat(want.path)
    if not found then
      if want.ensure == "absent" then return { ensure = "absent" } end
      local missing, blocked = host.missing_parents(want.path)
      if blocked then error(blocked, 0) end
      if #missing > 0 and not want.parents then
        error(missing[#missing] .. " does not exist (declare it earlier, as a directory; parents = true creates it)", 0)
      end
      return { ensure = "absent", missing = #missing > 0 and missing or nil }
    end
    if found.kind ~= "link" then error("expected a symbolic link, found a " .. found.kind .. ", which is not replaced", 0) end
    -- A number in the property is compared with the number of the owner.
    local numeric = function(s) return s and s:match("^%d+$") end
    return {
      ensure = "present",
      target = found.target,
      owner = numeric(want.owner) and tostring(found.uid) or found.owner,
      group = numeric(want.group) and tostring(found.gid) or found.group,
    }
  end,

  decide = function(want, have, compare)
    local decision = compare()
    decision.diff = tbl.filter(decision.diff, function(row) return row[1] ~= "parents" end)
    if have.missing then
      table.insert(decision.diff, { "parents", "", str.join(have.missing, ", ") .. " (mode 0755)" })
    end
    return decision
  end,

  leaves = function(want, have)
    local left = tbl.map(have and have.missing or {}, function(p) return { path = p, kind = "directory" } end)
    return tbl.concat(left, { { path = want.path, kind = want.ensure == "absent" and "absent" or "link", target = want.target } })
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(want.path) end
    if have.missing then host.mkdir(path.dir(want.path)) end
    if have.target ~= want.target then host.symlink(want.target, want.path) end
    if want.owner or want.group then host.chown(want.path, want.owner, want.group) end
  end,
}
