-- An application in PHP behind nginx: its user, its code from git, a pool of php-fpm that runs as that
-- user, a virtual host and a scheduled command. The settings are in site.yaml.
local git, timer, user = require "std.git", require "std.timer", require "std.user"
local want = data.load("site.yaml")
local debian = facts.os.family == "debian"
file.defaults { owner = "root", group = "root", mode = "0644" }

-- names and places of php-fpm: Debian has the version in them
local prefix = debian and "php" .. want.php .. "-" or "php-"
local fpm = {
  service = debian and "php" .. want.php .. "-fpm" or "php-fpm",
  pools = debian and "/etc/php/" .. want.php .. "/fpm/pool.d" or "/etc/php-fpm.d",
  user = debian and "www-data" or "nginx",
}
local extensions = tbl.map(debian and want.extensions.debian or want.extensions.rhel, function(e) return prefix .. e end)
local packages = package { tbl.concat({ "nginx", "git", prefix .. "fpm", prefix .. "cli" }, extensions) }

local account = user { want.name, home = want.root, shell = "/usr/sbin/nologin", system = true }
local root = file { want.root, ensure = "directory", mode = "0755", require = account }
local code = git { want.root .. "/code", url = want.repository, ref = want.ref, require = { root, packages } }
local storage = file { want.root .. "/storage", ensure = "directory", owner = want.name, group = want.name, mode = "0750", require = root }

local socket = "/run/php-" .. want.name .. ".sock"
local pool = { "; Written by ccm.", "[" .. want.name .. "]", "user = " .. want.name, "group = " .. want.name,
  "listen = " .. socket, "listen.owner = " .. fpm.user, "listen.group = " .. fpm.user }
for key, value in tbl.pairs(want.pool) do
  pool[#pool + 1] = key .. " = " .. tostring(value)
end
for key, value in tbl.pairs(want.environment) do
  pool[#pool + 1] = ('env[%s] = "%s"'):format(key, value)
end
for key, value in tbl.pairs(want.settings) do
  pool[#pool + 1] = ("php_admin_value[%s] = %s"):format(key, tostring(value))
end
local conf = file { fpm.pools .. "/" .. want.name .. ".conf", content = str.join(pool, "\n") .. "\n", require = { packages, account } }
local default = file { fpm.pools .. "/www.conf", ensure = "absent", require = conf }
service { fpm.service, enable = true, on_change = "reload", subscribe = { conf, default, code }, require = storage }

local values = tbl.merge(want, { socket = socket })
local vhost = file {
  "/etc/nginx/conf.d/" .. want.name .. ".conf",
  content = template.render("templates/vhost.tmpl", values),
  validate_after = "/usr/sbin/nginx -t",
  require = packages,
}
service { "nginx", enable = true, on_change = "reload", subscribe = vhost, require = "service#" .. fpm.service }

if want.scheduled then
  timer {
    want.name,
    command = ("/usr/bin/php %s/code/%s"):format(want.root, want.scheduled.script),
    schedule = want.scheduled.schedule,
    user = want.name,
    require = { account, code },
  }
end
