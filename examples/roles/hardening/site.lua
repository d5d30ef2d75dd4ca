-- A server and client of ssh, and an operating system, that offer little to attackers, after
-- the baselines of dev-sec.io. The settings are in site.yaml. Have another user who may log
-- in and become root before you run this: root can no longer log in by ssh.
local kv, block, sysctl = require "std.kv", require "std.block", require "std.sysctl"
local want = data.load("site.yaml")
local debian = facts.os.family == "debian"
local container = facts.virtual.container ~= "none" -- its kernel is somebody else's

file.defaults { owner = "root", group = "root", mode = "0644" }

-- ssh

-- writes keywords and values as sshd_config(5) has them
local function keywords(settings, indent)
  local lines = {}
  for key, value in tbl.pairs(settings) do
    for _, v in ipairs(type(value) == "table" and value or { value }) do
      lines[#lines + 1] = (indent or "") .. key .. " " .. v
    end
  end
  return str.join(lines, "\n") .. "\n"
end

local config = keywords(debian and want.ssh.server or tbl.omit(want.ssh.server, { "DebianBanner" }))
for _, m in ipairs(want.ssh.match) do
  config = config .. "Match " .. m.criteria .. "\n" .. keywords(m.keywords, "  ")
end
package { { debian and "openssh-client" or "openssh-clients", "openssh-server" } }
local conf = file { "/etc/ssh/sshd_config", mode = "0600", content = config, validate = "/usr/sbin/sshd -t -f %s" }
file { "/etc/ssh/ssh_config", content = "Host *\n" .. keywords(want.ssh.client, "  ") }
local strong = ("$5 >= %d"):format(want.ssh.moduli_minimum - 1)
exec {
  "weak moduli",
  command = { "sh", "-c", "awk '" .. strong .. "' /etc/ssh/moduli > /etc/ssh/moduli.new && mv /etc/ssh/moduli.new /etc/ssh/moduli" },
  onlyif = { "awk", ("!/^#/ && $5 < %d { weak = 1 } END { exit !weak }"):format(want.ssh.moduli_minimum - 1), "/etc/ssh/moduli" },
}
service { debian and "ssh" or "sshd", enable = true, on_change = "reload-or-restart", subscribe = conf }

-- packages, modules and the kernel

package { want.os.removed_packages, ensure = "absent" }
local modules = tbl.concat(want.os.unused_filesystems, want.os.unused_protocols)
file { "/etc/modprobe.d", ensure = "directory", mode = "0755" }
file { "/etc/modprobe.d/hardening.conf", content = str.join(tbl.map(modules, function(m) return "install " .. m .. " /bin/true\n" end), "") }
for key, value in tbl.pairs(want.os.sysctl) do
  if fs.exists("/proc/sys/" .. str.replace(key, ".", "/")) and not (container and not str.starts(key, "net.")) then
    sysctl { key, value = tostring(value), path = "/etc/sysctl.d/80-hardening.conf" }
  end
end

-- logins and passwords

for key, value in tbl.pairs(want.os.login_defs) do
  kv { key, path = "/etc/login.defs", value = value, separator = "\t" }
end
file { "/etc/security/limits.d/10.hardcore.conf", content = "* hard core 0\n" }
file { "/etc/profile.d/hardening.sh", content = "umask 027\nulimit -S -c 0 > /dev/null 2>&1\n" }
file { "/etc/securetty", mode = "0400", content = "console\ntty1\ntty2\n" }
if want.os.su_group then
  block { "su", path = "/etc/pam.d/su", content = "auth required pam_wheel.so group=" .. want.os.su_group }
end
if debian then
  package { "libpam-passwdqc" }
  local profile = file { "/usr/share/pam-configs/faillock", content = fs.read("templates/faillock") }
  exec { "pam-auth-update --package", environment = { DEBIAN_FRONTEND = "noninteractive" }, refreshonly = true, subscribe = profile }
end

-- who may read and run what

for path, mode in tbl.pairs { ["/etc/passwd"] = "0644", ["/etc/group"] = "0644", ["/etc/crontab"] = "0600", ["/etc/cron.d"] = "0700",
  ["/etc/cron.daily"] = "0700", ["/etc/cron.hourly"] = "0700", ["/etc/cron.weekly"] = "0700", ["/etc/cron.monthly"] = "0700" } do
  if fs.exists(path) then
    file { path, ensure = "existing", owner = "root", group = "root", mode = mode }
  end
end
file { "/etc/shadow", ensure = "existing", owner = "root", group = debian and "shadow" or "root", mode = debian and "0640" or "0000" }
for _, path in ipairs(want.os.suid) do
  if fs.is_file(path) then
    file { path, ensure = "existing", owner = "root", group = "-1", mode = "0755" }
  end
end
local rhosts = fs.glob("/home/*/.rhosts")
file { tbl.concat(rhosts, { "/etc/hosts.equiv", "/root/.rhosts" }), ensure = "absent" }

if want.os.auditd then
  package { debian and "auditd" or "audit" }
  local settings = {}
  for key, value in tbl.pairs(want.os.auditd_conf) do
    settings[#settings + 1] = kv { key, path = "/etc/audit/auditd.conf", value = value, separator = " = " }
  end
  if not container then
    service { "auditd", enable = true, subscribe = settings }
  end
end
