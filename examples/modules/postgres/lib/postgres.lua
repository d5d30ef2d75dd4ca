-- PostgreSQL of the distribution: settings, who may connect, roles and databases.
--
--   local postgres = require "postgres"
--   postgres.server { version = 15, settings = { max_connections = 200 } }
--   postgres.role { "app", password = secret.file "/etc/app.password" }
--   postgres.database { "app", owner = "app" }
--
-- Settings are those of postgresql.conf, the lines of hba those of pg_hba.conf (PostgreSQL
-- documentation, chapters "Server Configuration" and "Client Authentication").
local postgres = {}
local declared = {}

-- names and texts as SQL writes them (chapter "Lexical Structure")
local function ident(s) return '"' .. str.replace(s, '"', '""') .. '"' end
local function text(s) return "'" .. str.replace(s, "'", "''") .. "'" end

-- where a version of a distribution has its files
local function places(version)
  if facts.os.family == "debian" then
    local name = version .. "/main"
    return { package = "postgresql-" .. version, config = "/etc/postgresql/" .. name, data = "/var/lib/postgresql/" .. name }
  end
  return { package = "postgresql-server", config = "/var/lib/pgsql/data", data = "/var/lib/pgsql/data", initdb = true }
end

-- a value of postgresql.conf: numbers, on and off as they are, all else in quotes
local function setting(v)
  if type(v) == "boolean" then return v and "on" or "off" end
  if type(v) == "number" then return tostring(v) end
  return text(v)
end

--- Installs a server and runs it. The options:
---   version   of PostgreSQL, such as 15; Debian has it in the names of packages and paths
---   settings  of postgresql.conf, in a file of their own
---   hba       lines of pg_hba.conf, after those for local connections of postgres:
---             { { "host", "app", "app", "10.0.0.0/8", "scram-sha-256" } }
function postgres.server(options)
  local at = places(options.version or error("postgres.server wants a version", 2))
  local server = package { at.package }
  declared.port = (options.settings or {}).port or 5432
  if at.initdb then exec { "postgresql-setup --initdb", creates = at.data .. "/PG_VERSION", require = server } end
  local own = { owner = "postgres", group = "postgres", mode = "0640" }
  local settings = { "# Written by ccm.", "password_encryption = 'scram-sha-256'" }
  for key, value in tbl.pairs(options.settings or {}) do
    if not key:match "^[%a_][%w_.]*$" then error("postgres.server: " .. key .. " is not the name of a setting", 2) end
    settings[#settings + 1] = key .. " = " .. setting(value)
  end
  local conf = file {
    at.config .. "/conf.d/ccm.conf",
    content = str.join(settings, "\n") .. "\n",
    owner = own.owner, group = own.group, mode = own.mode, parents = true, require = server,
  }
  local include = require "std.kv" {
    "include_dir", path = at.config .. "/postgresql.conf", value = "'conf.d'", separator = " = ", require = server,
  }
  local hba = { "# Written by ccm.", "local\tall\tpostgres\tpeer" }
  for _, line in ipairs(options.hba or {}) do
    hba[#hba + 1] = str.join(line, "\t")
  end
  local access = file {
    at.config .. "/pg_hba.conf",
    content = str.join(hba, "\n") .. "\n",
    owner = own.owner, group = own.group, mode = own.mode, require = server,
  }
  declared.service = service { "postgresql", enable = true, on_change = "restart", subscribe = { conf, include } }
  exec { "systemctl reload postgresql", refreshonly = true, subscribe = access, require = declared.service }
  return declared.service
end

-- runs SQL as the user postgres, unless something is in a table. The SQL goes by standard input:
-- the arguments of a command everybody can read. Nothing there is a division by zero, with which
-- psql fails.
local function sql(name, there, statement)
  if not declared.service then error("call postgres.server { ... } first", 3) end
  local psql = { "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--port=" .. declared.port }
  return exec {
    name,
    command = psql,
    stdin = statement .. "\n",
    unless = tbl.concat(psql, { "--command=SELECT 1/count(*) FROM " .. there }),
    user = "postgres",
    cwd = "/",
    require = declared.service,
  }
end

--- Declares a role that can log in. A password is set when the role is made; attributes are
--- those of CREATE ROLE, such as "CREATEDB".
function postgres.role(options)
  local name = options[1] or error("postgres.role wants a name", 2)
  local attributes = "LOGIN" .. (options.attributes and " " .. options.attributes or "")
  if options.password then attributes = attributes .. " PASSWORD " .. text(options.password) end
  return sql("postgres role " .. name, "pg_roles WHERE rolname = " .. text(name), "CREATE ROLE " .. ident(name) .. " " .. attributes .. ";")
end

--- Declares a database, of an owner.
function postgres.database(options)
  local name = options[1] or error("postgres.database wants a name", 2)
  local create = ("CREATE DATABASE %s OWNER %s TEMPLATE template0 ENCODING %s;"):format(ident(name), ident(options.owner or "postgres"), text(options.encoding or "UTF8"))
  return sql("postgres database " .. name, "pg_database WHERE datname = " .. text(name), create)
end

return postgres
