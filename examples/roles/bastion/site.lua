-- A host by which people reach others with ssh -J, and where they can do nothing else: users with keys,
-- a part of sshd's configuration, a banner, and a journal that stays. The settings are in site.yaml.
-- Have your own user in admins, with a key, before you run this from afar.
local group, user, authorized_key = require "std.group", require "std.user", require "std.authorized_key"
local want = data.load("site.yaml")
file.defaults { owner = "root", group = "root", mode = "0644" }

local openssh = package { "openssh-server" }

group { { want.jump_group, want.admin_group } }
local function person(p, own_group, shell, options)
  local account = user { p.name, comment = ccm.optional(p.comment), groups = { own_group }, home = "/home/" .. p.name, manage_home = true, shell = shell, password = "*" }
  for i, key in ipairs(p.keys) do
    authorized_key { p.name .. i, user = p.name, key = key, options = ccm.optional(options), require = account }
  end
end
for _, p in ipairs(want.people) do
  person(p, want.jump_group, "/usr/sbin/nologin", { "restrict", "port-forwarding" })
end
for _, p in ipairs(want.admins) do
  person(p, want.admin_group, "/bin/bash")
end
user { want.removed, ensure = "absent", manage_home = true }

local banner = file { "/etc/ssh/banner", content = want.banner, require = openssh }
local conf = file {
  "/etc/ssh/sshd_config.d/10-bastion.conf",
  content = str.join({
    "# Written by ccm.",
    "AllowGroups " .. want.jump_group .. " " .. want.admin_group,
    "PermitRootLogin no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "X11Forwarding no",
    "AllowAgentForwarding no",
    "MaxAuthTries 3",
    "LogLevel VERBOSE",
    "ClientAliveInterval 60",
    "Banner /etc/ssh/banner",
    "Match Group " .. want.jump_group,
    "    AllowTcpForwarding local",
    "    PermitOpen " .. str.join(want.permit_open, " "),
    "    PermitTTY no",
    "    ForceCommand /usr/sbin/nologin",
    "Match all",
    "",
  }, "\n"),
  mode = "0600",
  parents = true,
  validate = "/usr/sbin/sshd -t -f %s",
  require = { openssh, banner },
}
service { facts.os.family == "debian" and "ssh" or "sshd", enable = true, on_change = "reload", subscribe = conf }

local journal = file {
  "/etc/systemd/journald.conf.d/bastion.conf",
  content = ("[Journal]\nStorage=persistent\nMaxRetentionSec=%s\n"):format(want.journal_retention),
  parents = true,
}
service { "systemd-journald", subscribe = journal }
