-- link: keeps a symbolic link.
--
--   local link = require "std.link"
--   link { "/etc/localtime", target = "/usr/share/zoneinfo/Europe/Berlin" }
--   link { "/etc/nginx/sites-enabled/default", ensure = "absent" }

return ccm.type {
  name = "link",
  doc = "Keeps a symbolic link. Anything else that stands at its path is not replaced.",
  properties = {
    path = { type = "path", name = true, doc = "Where the link is.", example = "/etc/localtime" },
    target = { doc = "What it points to, as it is to be written there. It is required unless ensure is absent." },
    owner = { doc = "The user that owns the link, by name or number." },
    group = { doc = "The group of the link, by name or number." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether there is to be a link." },
  },

  validate = function(want)
    if want.ensure == "present" and not want.target then return "target is required unless ensure is absent" end
  end,

  status = function(want, host)
    local found = host.stat(want.path)
    if not found then
      local dir = path.dir(want.path)
      if want.ensure == "present" and not host.is_directory(dir) then
        error(dir .. (host.stat(dir) and " is not a directory" or " does not exist"), 0)
      end
      return { ensure = "absent" }
    end
    if found.kind ~= "link" then error("want a symbolic link, found a " .. found.kind .. ", which is not replaced", 0) end
    -- A number is compared with the number.
    local numeric = function(s) return s and s:match("^%d+$") end
    return {
      ensure = "present",
      target = found.target,
      owner = numeric(want.owner) and tostring(found.uid) or found.owner,
      group = numeric(want.group) and tostring(found.gid) or found.group,
    }
  end,

  leaves = function(want)
    return { { path = want.path, kind = want.ensure == "absent" and "absent" or "link", target = want.target } }
  end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(want.path) end
    if have.target ~= want.target then host.symlink(want.target, want.path) end
    if want.owner or want.group then host.chown(want.path, want.owner, want.group) end
  end,
}
