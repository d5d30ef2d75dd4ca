-- The operations of pip, npm and gem for std.language_package.
--
-- Each has versions, which returns the installed versions, newest, which returns the newest one in the registry, and
-- install and remove, which return the words of commands.

local managers = {}

-- A command, run as the user if one is given. The managers must not prompt, and leave no files while only reading.
function managers.command(want, words, host)
  local env = { PIP_NO_INPUT = "1", PIP_DISABLE_PIP_VERSION_CHECK = "1", PYTHONDONTWRITEBYTECODE = "1", NPM_CONFIG_LOGS_MAX = "0" }
  if want.manager == "gem" and want.path then env.GEM_HOME, env.GEM_PATH = want.path, want.path end
  return tbl.merge(words, { env = env, user = want.user })
end

local function python(want, host) return want.path and want.path .. "/bin/python3" or "python3" end

-- The options for the source of packages, for the command that lists versions.
local function index_options(want)
  local list, takes = {}, false
  for _, o in ipairs(want.options or {}) do
    local named = re.match(o, [[^(--index-url|-i|--extra-index-url|--find-links|-f|--no-index|--pre|--trusted-host|--proxy|--cert)(=.*)?$]])
    if takes or named then list[#list + 1] = o end
    takes = not takes and named ~= nil and not named[2] and o ~= "--no-index" and o ~= "--pre"
  end
  return list
end

-- In names of Python packages - _ and . are equal, and case does not matter.
local function normal(name) return (name:lower():gsub("[-_.]+", "-")) end

managers.pip = {
  versions = function(want, host)
    if want.path and not host.stat(want.path .. "/bin/python3") then return {} end
    local out = host.query(managers.command(want, { python(want, host), "-m", "pip", "list", "--format=json" }, host))
    for _, p in ipairs(json.decode(out ~= "" and out or "[]")) do -- in a spec pip prints nothing
      if normal(p.name) == normal(want.name) then return { p.version } end
    end
    return {}
  end,
  -- One for this version of Python, and no pre-release.
  newest = function(want, host)
    local words = tbl.concat({ python(want, host), "-m", "pip", "index", "versions" }, index_options(want), { want.name })
    return (re.match(host.query(managers.command(want, words, host)), [[(?m)^\S+ \(([^()\s]+)\)\s*$]]) or {})[1]
  end,
  install = function(want, host)
    if want.path and not host.stat(want.path .. "/bin/python3") then
      host.run(managers.command(want, { "python3", "-m", "venv", want.path }, host))
    end
    local what = want.source or want.version and want.name .. "==" .. want.version or want.name
    return tbl.concat({ python(want, host), "-m", "pip", "install", "--quiet" }, want.ensure == "latest" and { "--upgrade" } or {}, want.options or {}, { what })
  end,
  remove = function(want, host)
    return tbl.concat({ python(want, host), "-m", "pip", "uninstall", "--quiet", "--yes" }, { want.name })
  end,
}

-- The words of npm for a project, or for the global packages.
local function npm(want, host, verb)
  return tbl.concat({ "npm", verb }, want.path and { "--prefix", want.path } or { "--global" })
end

managers.npm = {
  versions = function(want, host)
    if want.path and not host.is_directory(want.path) then return {} end
    -- It exits with 1 if another package is incomplete, and writes to its cache.
    local words = managers.command(want, tbl.concat(npm(want, host, "ls"), { "--json", "--depth=0" }), host)
    words.check, words.env.NPM_CONFIG_CACHE = false, "/dev/null/npm"
    local out, _, errors = host.query(words)
    local ok, found = pcall(json.decode, out)
    if not ok or found.error then error("npm ls: " .. errors, 0) end
    local p = (found.dependencies or {})[want.name]
    return p and p.version and { p.version } or {}
  end,
  newest = function(want, host)
    local out = host.query(managers.command(want, { "npm", "view", want.name .. "@latest", "version", "--json" }, host))
    return json.decode(out) -- it caches its arguments
  end,
  install = function(want, host)
    local version = want.ensure == "latest" and "latest" or want.version
    local what = want.source or version and want.name .. "@" .. version or want.name
    return tbl.concat(npm(want, host, "install"), { "--no-audit", "--no-fund", "--loglevel=error" }, want.options or {}, { what })
  end,
  remove = function(want, host) return tbl.concat(npm(want, host, "uninstall"), { "--silent", want.name }) end,
}

managers.gem = {
  versions = function(want, host)
    local out = host.query(managers.command(want, { "gem", "list", "--local", "--exact", want.name }, host))
    local list = {}
    for name, versions in ("\n" .. out):gmatch("\n(%S+) %((.-)%)") do -- rake (13.1.0, default: 13.0.6)
      for v in (name == want.name and versions or ""):gmatch("[^,%s]+") do
        if v ~= "default:" then list[#list + 1] = v end
      end
    end
    return list
  end,
  newest = function(want, host)
    local out = host.query(managers.command(want, { "gem", "list", "--remote", "--exact", want.name }, host))
    return (re.match(out, [[(?m)^\S+ \(([^\s,()]+)]]) or {})[1] -- rake (13.2.1), nokogiri (1.16.0 ruby java)
  end,
  install = function(want) -- with --silent it would not print why it fails
    local what = want.source and { want.source } or want.versions and tbl.map(want.versions, function(v) return want.name .. ":" .. v end) or want.version and { want.name, "--version", want.version } or { want.name }
    return tbl.concat({ "gem", "install", "--no-document", "--quiet" }, want.options or {}, what)
  end,
  remove = function(want) return { "gem", "uninstall", "--all", "--executables", "--silent", want.name } end,
}

return managers
