-- language_package: keeps a package of a language's own package manager: pip, npm or gem.
--
--   local language_package = require "std.language_package"
--   language_package { "flask", manager = "pip", path = "/opt/app/venv", version = "3.0.2" }
--   language_package { "pm2", manager = "npm" }
--   language_package { "rake", manager = "gem", source = "files/rake-13.1.0.gem" }

local safepath = require "std.safepath"

-- A command, as the user if there is one. A manager asks nobody anything, and leaves no files
-- behind when it only looks.
local function command(want, words, host)
  local env = { PIP_NO_INPUT = "1", PIP_DISABLE_PIP_VERSION_CHECK = "1", PYTHONDONTWRITEBYTECODE = "1", NPM_CONFIG_LOGS_MAX = "0" }
  if want.manager == "gem" and want.path then env.GEM_HOME, env.GEM_PATH = host.real(want.path), host.real(want.path) end
  if want.user then words = tbl.concat({ "runuser", "-u", want.user, "--" }, words) end
  return tbl.merge(words, { env = env })
end

-- What a manager is called, has, does and undoes. Versions returns those that are there.
local managers = {}

local function python(want, host) return want.path and host.real(want.path) .. "/bin/python3" or "python3" end

-- Names of Python packages are the same with - _ and ., and in any case.
local function normal(name) return (name:lower():gsub("[-_.]+", "-")) end

managers.pip = {
  versions = function(want, host)
    if want.path and not host.stat(want.path .. "/bin/python3") then return {} end
    local out = host.query(command(want, { python(want, host), "-m", "pip", "list", "--format=json" }, host))
    for _, p in ipairs(json.decode(out)) do
      if normal(p.name) == normal(want.name) then return { p.version } end
    end
    return {}
  end,
  install = function(want, host)
    if want.path and not host.stat(want.path .. "/bin/python3") then
      host.run(command(want, { "python3", "-m", "venv", host.real(want.path) }, host))
    end
    local what = want.source or want.version and want.name .. "==" .. want.version or want.name
    return tbl.concat({ python(want, host), "-m", "pip", "install", "--quiet" }, want.options or {}, { what })
  end,
  remove = function(want, host)
    return tbl.concat({ python(want, host), "-m", "pip", "uninstall", "--quiet", "--yes" }, { want.name })
  end,
}

-- Words of npm for a project, or for the packages of the machine.
local function npm(want, host, verb)
  return tbl.concat({ "npm", verb }, want.path and { "--prefix", host.real(want.path) } or { "--global" })
end

managers.npm = {
  versions = function(want, host)
    if want.path and not host.is_directory(want.path) then return {} end
    -- It ends with 1 where something else is missing, and notes in its cache that it ran.
    local words = command(want, tbl.concat(npm(want, host, "ls"), { "--json", "--depth=0" }), host)
    words.check, words.env.NPM_CONFIG_CACHE = false, "/dev/null/npm"
    local out, _, errors = host.query(words)
    local ok, found = pcall(json.decode, out)
    if not ok or found.error then error("npm ls: " .. errors, 0) end
    local p = (found.dependencies or {})[want.name]
    return p and p.version and { p.version } or {}
  end,
  install = function(want, host)
    local what = want.source or want.version and want.name .. "@" .. want.version or want.name
    return tbl.concat(npm(want, host, "install"), { "--no-audit", "--no-fund", "--silent" }, want.options or {}, { what })
  end,
  remove = function(want, host) return tbl.concat(npm(want, host, "uninstall"), { "--silent", want.name }) end,
}

managers.gem = {
  versions = function(want, host)
    local out = host.query(command(want, { "gem", "list", "--local", "--exact", want.name }, host))
    local list = {}
    for versions in out:gmatch("%((.-)%)") do -- (13.1.0, default: 13.0.6)
      for v in versions:gmatch("[^,%s]+") do
        if v ~= "default:" then list[#list + 1] = v end
      end
    end
    return list
  end,
  install = function(want)
    local what = want.source and { want.source } or want.version and { want.name, "--version", want.version } or { want.name }
    return tbl.concat({ "gem", "install", "--no-document", "--silent" }, want.options or {}, what)
  end,
  remove = function(want) return { "gem", "uninstall", "--all", "--executables", "--silent", want.name } end,
}

return ccm.type {
  name = "language_package",
  doc = "Keeps a package of a language's own package manager: pip, npm or gem.",
  commands = { "python3", "npm", "gem", "setsid", "runuser" },
  properties = {
    name = { name = true, doc = "The name of the package.", example = "flask" },
    manager = { enum = { "pip", "npm", "gem" }, required = true, doc = "The package manager. It must be installed." },
    version = { doc = "The version to be there. Left out, any will do.", example = "3.0.2" },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether there is to be such a package." },
    path = { type = "path", doc = "A virtual environment of Python, which is made if it is missing, a project of npm, or a directory of gems. Left out, the package is that of the whole machine." },
    source = { type = "path", relative = true, doc = "A package file to install instead of what a registry has." },
    options = { type = "list", doc = "Further words for the command that installs the package.", example = "--no-index" },
    user = { doc = "The user who runs the package manager. Left out, it is the one who runs ccm, and root wants a path that nobody else can exchange." },
  },
  phrases = { create = "installed the package", update = "replaced the package", remove = "removed the package" },

  validate = function(want)
    if not re.test(want.name, [[^[A-Za-z0-9@][\w./@-]*$]]) then return "name", "want the name of a package, got " .. inspect(want.name) end
    if want.version and not re.test(want.version, [[^[\w][\w.+!-]*$]]) then return "version", "want a version such as 3.0.2, got " .. inspect(want.version) end
    if want.user and not re.test(want.user, [[^[\w.][\w.-]*$]]) then return "user", "want the name of a user, got " .. inspect(want.user) end
  end,

  status = function(want, host)
    -- What is in there is run: bin/python3, scripts of a project, plugins of gem.
    local weakness = want.path and not want.user and safepath.weakness(host, path.join(want.path, "bin/python3"))
    if weakness then error(weakness .. ", who could have root run anything there; name the user who is to run " .. want.manager .. " (user), or take a directory of root's", 0) end
    local list = managers[want.manager].versions(want, host)
    return { ensure = list[1] and "present" or "absent", version = tbl.contains(list, want.version) and want.version or list[1] }
  end,

  perform = function(action, want, _, host)
    local m = managers[want.manager]
    host.run(command(want, (action == "remove" and m.remove or m.install)(want, host), host))
  end,
}
