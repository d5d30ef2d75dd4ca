-- A host that keeps the backups of others with BorgBackup: each client has a repository of its own and a
-- key that can do nothing else, and a timer checks the repositories. The settings are in site.yaml.
local user, authorized_key, timer = require "std.user", require "std.authorized_key", require "std.timer"
local want = data.load("site.yaml")
local rhel = facts.os.family == "rhel"
file.defaults { owner = "root", group = "root", mode = "0644" }

-- RHEL's relatives have borg in EPEL, Fedora has it itself
if rhel and facts.os.id ~= "fedora" then
  package { "epel-release", before = "package#borgbackup" }
end
local borg = package { { "borgbackup", "openssh-server" } }
service { rhel and "sshd" or "ssh", enable = true, require = borg }

local account = user { want.user, home = want.home, shell = "/bin/sh", system = true, password = "*" }
local home = file { want.home, ensure = "directory", owner = want.user, group = want.user, mode = "0750", require = account }
local ssh_dir = file { want.home .. "/.ssh", ensure = "directory", owner = want.user, group = want.user, mode = "0700", require = home }

for _, client in ipairs(want.clients) do
  local repository = file {
    want.home .. "/" .. client.name,
    ensure = "directory",
    owner = want.user,
    group = want.user,
    mode = "0700",
    require = home,
  }
  local serve = "borg serve --restrict-to-path " .. want.home .. "/" .. client.name
  if client.append_only then serve = serve .. " --append-only" end
  if client.quota then serve = serve .. " --storage-quota " .. client.quota end
  authorized_key {
    client.name,
    user = want.user,
    key = client.key,
    options = { 'command="' .. serve .. '"', "restrict" },
    require = { ssh_dir, repository },
  }
end

local check = file {
  "/usr/local/sbin/check-backups",
  content = template.render("templates/check-backups.tmpl", want),
  mode = "0755",
}
timer {
  "check-backups",
  command = "/usr/local/sbin/check-backups",
  schedule = want.check,
  delay = "1h",
  user = want.user,
  require = { account, check, borg },
}
