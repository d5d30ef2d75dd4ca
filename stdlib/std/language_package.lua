-- language_package: keeps a package of a language's own package manager: pip, npm or gem.
--
--   std.language_package { "flask", manager = "pip", path = "/opt/app/venv", version = "3.0.2" }
--   std.language_package { "pm2", manager = "npm", ensure = "latest" }
--   std.language_package { "rake", manager = "gem", source = "files/rake-13.1.0.gem" }

local accounts, managers, safepath = require "std.accounts", require "std.language_managers", require "std.safepath"
local names = { "pip", "npm", "gem" }

return ccm.type {
  name = "language_package",
  doc = "Manages a package of a language package manager: pip, npm or gem.",
  live = true, commands = { "python3", "npm", "gem", "id" },
  properties = {
    name = { name = true, doc = "The name of the package.", example = "flask" },
    manager = { enum = names, doc = "The package manager. Required, and must be installed." },
    version = { doc = "The version to install. If unset, any version is accepted.", example = "3.0.2" },
    versions = { type = "list", one_line = true, doc = "Several versions of a gem, all of which are installed. Others are kept." },
    ensure = { enum = { "present", "latest", "absent" }, default = "present", doc = "Whether the package should be installed. latest keeps it at the newest version of the registry, which every plan and run queries." },
    path = { type = "path", doc = "A Python virtual environment (created if missing), an npm project, or a directory of gems. If unset, the package is installed system-wide." },
    source = { type = "path", relative = true, doc = "A package file to install instead of the version in the registry." },
    options = { type = "list", one_line = true, doc = "Additional arguments of the install command.", example = "--no-index" },
    user = { kind = "owner", doc = "The user that runs the package manager. Default: the user that runs ccm; as root, path must be replaceable by root only." },
  },
  phrases = { create = "installed the package", update = "replaced the package", remove = "removed the package" },

  validate = function(want)
    if not want.manager then return "manager is required" end
    if want.versions and (want.manager ~= "gem" or want.version or want.source or want.ensure ~= "present") then return "versions", "is for gems, without version, source, latest and absent" end
    if want.ensure == "latest" and (want.version or want.source) then return "ensure", "latest cannot be used with version or source" end
    if not re.test(want.name, [[^[A-Za-z0-9@][\w./@-]*$]]) then return "name", "expected a package name, got " .. inspect(want.name) end
    for _, v in ipairs(want.versions or { want.version }) do
      if not re.test(v, [[^[\w][\w.+!-]*$]]) then return want.versions and "versions" or "version", "expected a version such as 3.0.2, got " .. inspect(v) end
    end
    if want.user and not re.test(want.user, [[^[\w.][\w.-]*$]]) then return "user", "expected a user name, got " .. inspect(want.user) end
  end,

  status = function(want, host)
    -- Programs in there are run: bin/python3, scripts of a project, plugins of gem.
    local weakness = want.path and not want.user and safepath.weakness(host, path.join(want.path, "bin/python3"))
    if weakness then error(weakness .. ", who could make root run anything there (set user to run " .. want.manager .. " as that user, or use a directory of root)", 0) end
    local found = {}
    for _, name in ipairs(want.manager and { want.manager } or names) do -- ccm import names none
      if want.manager or host.which(name == "pip" and "pip3" or name) then -- Python comes without pip, too
        local list = managers[name].versions(tbl.merge(want, { manager = name }), host)
        if #list > 0 then found[#found + 1] = { manager = name, list = list } end
      end
    end
    if #found > 1 then error(("%s is installed by both %s and %s"):format(want.name, found[1].manager, found[2].manager), 0) end
    local home = (want.user and accounts.user(host, want.user) or {}).home or "/root"
    if not found[1] then return { ensure = "absent", home = home } end
    local list = found[1].list
    local have = { home = home, ensure = "present", manager = found[1].manager, version = tbl.contains(list, want.version) and want.version or list[1] }
    if want.ensure == "absent" then have.versions = list end -- for undo
    if want.versions then have.versions = tbl.filter(want.versions, function(v) return tbl.contains(list, v) end) end
    if want.ensure ~= "latest" then return have end
    have.newest = managers[want.manager].newest(want, host)
    if not have.newest then error("no such package in the registry: " .. want.name, 0) end
    return tbl.merge(have, tbl.contains(list, have.newest) and { ensure = "latest", version = have.newest } or {})
  end,

  decide = function(want, have, compare)
    if want.ensure ~= "latest" or have.ensure ~= "present" then return compare() end
    return { diff = { { "version", have.version, have.newest } }, actions = { { "update", "updated the package" } } }
  end,

  -- Packages bring files to their directory, and the manager to its caches in the home of its user. What a package runs
  -- when it is installed is its own matter; system-wide it may do anything.
  leaves = function(want, have)
    if not want.path or not have then return {}, true end
    local caches = tbl.map({ ".cache", ".npm", ".gem", ".local" }, function(name) return { path = path.join(have.home, name) } end)
    return tbl.concat({ { path = want.path } }, caches), "commands"
  end,

  programs = function(_, want, _, host)
    local python = want.path and host.stat(want.path .. "/bin/python3") and want.path .. "/bin/python3" or "python3"
    return { want.manager == "pip" and python or want.manager }
  end,

  recreate = require("std.recreate").language_package,

  perform = function(action, want, _, host)
    local m = managers[want.manager]
    host.run(managers.command(want, (action == "remove" and m.remove or m.install)(want, host), host))
  end,
}
