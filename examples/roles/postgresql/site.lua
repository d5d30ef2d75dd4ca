-- PostgreSQL of the distribution, with its settings, who may connect, roles and databases.
-- The settings are in site.yaml.
local kv, locale = require "std.kv", require "std.locale"
local want = data.load("site.yaml")

if #want.locales > 0 then
  locale { want.locales, require = package { "locales" }, before = "package#" .. want.packages[1] }
end
local server = package { want.packages }
if want.initdb then
  exec { "postgresql-setup --initdb", creates = want.data .. "/PG_VERSION", require = server }
end

local settings = {}
for key, value in tbl.pairs(want.options) do
  local path = want.config .. "/postgresql.conf"
  settings[#settings + 1] = kv { key, path = path, value = value, separator = " = ", require = server }
end
local hba = tbl.map(want.hba, function(entry) return str.join(entry, "\t") end)
local access = file {
  want.config .. "/pg_hba.conf",
  content = str.join(hba, "\n") .. "\n",
  owner = "postgres",
  group = "postgres",
  mode = "0640",
  require = server,
}

service { "postgresql", enable = true, on_change = "restart", subscribe = settings }
exec { "systemctl reload postgresql", refreshonly = true, subscribe = access, require = "service#postgresql" }

-- writes a name, or a text, as SQL does
local function ident(s) return '"' .. str.replace(s, '"', '""') .. '"' end
local function text(s) return "'" .. str.replace(s, "'", "''") .. "'" end

exec.defaults { user = "postgres", cwd = "/", require = "service#postgresql" }
local psql = { "psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1" }

for _, role in ipairs(want.roles) do
  local create = ("SELECT 'CREATE ROLE %s' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)"):format(ident(role.name), text(role.name))
  exec {
    "role " .. role.name,
    -- the password is right if one can log in with it
    check = { "psql", "--no-psqlrc", "--host=127.0.0.1", "--username=" .. role.name, "--command=SELECT", "postgres" },
    environment = { PGPASSWORD = role.password },
    command = psql,
    stdin = ("%s \\gexec\nALTER ROLE %s LOGIN %s PASSWORD %s;\n"):format(create, ident(role.name), role.attributes or "", text(role.password)),
  }
end
for _, db in ipairs(want.databases) do
  local sql = ("CREATE DATABASE %s OWNER %s TEMPLATE template0 ENCODING %s LOCALE %s"):format(ident(db.name), ident(db.owner or "postgres"), text(db.encoding or "UTF8"), text(db.locale or "C.UTF-8"))
  exec { "database " .. db.name, unless = { "psql", "--no-psqlrc", "--command=SELECT", db.name }, command = psql, stdin = sql .. ";\n" }
end
