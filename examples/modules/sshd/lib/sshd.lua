-- sshd with settings in a file of their own, which sshd has to accept before they are written.
--
--   local sshd = require "sshd"
--   sshd.server { settings = { PermitRootLogin = "no", PasswordAuthentication = "no", AllowGroups = { "ssh" } } }
--   sshd.match { "Group sftp", settings = { ForceCommand = "internal-sftp", ChrootDirectory = "/srv/sftp/%u" } }
--
-- The keywords are those of sshd_config(5) of OpenSSH 9.9.
local sshd = {}

local keywords = {}
for word in
  ([[
  AcceptEnv AddressFamily AllowAgentForwarding AllowGroups AllowStreamLocalForwarding AllowTcpForwarding AllowUsers
  AuthenticationMethods AuthorizedKeysCommand AuthorizedKeysCommandUser AuthorizedKeysFile AuthorizedPrincipalsCommand
  AuthorizedPrincipalsCommandUser AuthorizedPrincipalsFile Banner CASignatureAlgorithms ChannelTimeout ChrootDirectory Ciphers
  ClientAliveCountMax ClientAliveInterval Compression DenyGroups DenyUsers DisableForwarding ExposeAuthInfo FingerprintHash
  ForceCommand GatewayPorts GSSAPIAuthentication GSSAPICleanupCredentials GSSAPIStrictAcceptorCheck HostCertificate
  HostKey HostKeyAgent HostKeyAlgorithms HostbasedAcceptedAlgorithms HostbasedAuthentication HostbasedUsesNameFromPacketOnly
  IgnoreRhosts IgnoreUserKnownHosts IPQoS KbdInteractiveAuthentication KerberosAuthentication KexAlgorithms ListenAddress
  LoginGraceTime LogLevel LogVerbose MACs MaxAuthTries MaxSessions MaxStartups ModuliFile PasswordAuthentication
  PermitEmptyPasswords PermitListen PermitOpen PermitRootLogin PermitTTY PermitTunnel PermitUserEnvironment PermitUserRC
  PerSourceMaxStartups PerSourceNetBlockSize PerSourcePenalties PidFile Port PrintLastLog PrintMotd PubkeyAcceptedAlgorithms
  PubkeyAuthOptions PubkeyAuthentication RekeyLimit RequiredRSASize RevokedKeys SecurityKeyProvider SetEnv StreamLocalBindMask
  StreamLocalBindUnlink StrictModes Subsystem SyslogFacility TCPKeepAlive TrustedUserCAKeys UnusedConnectionTimeout UseDNS UsePAM
  VersionAddendum X11DisplayOffset X11Forwarding X11UseLocalhost XAuthLocation
]]):gmatch "%S+"
do
  keywords[word:lower()] = word
end

-- those that sshd takes several times, one line each; all others get a list on one line
local repeated = { Port = true, ListenAddress = true, HostKey = true, AcceptEnv = true, Subsystem = true, HostCertificate = true }

-- writes settings in order of their names: the first of two counts for sshd, so none is there twice
local function lines(settings, indent, where)
  local out = {}
  for key, value in tbl.pairs(settings) do
    local keyword = keywords[key:lower()] or error(where .. ": sshd has no setting " .. key, 3)
    local values = type(value) == "table" and value or { value }
    if #values == 0 then error(where .. ": " .. key .. " is an empty list", 3) end
    for i, v in ipairs(values) do
      if type(v) == "boolean" then v = v and "yes" or "no" end
      v = tostring(v)
      if v == "" or v:find "[\r\n]" then error(where .. ": " .. key .. " has an empty value, or one of several lines", 3) end
      values[i] = v
    end
    if repeated[keyword] then
      for _, v in ipairs(values) do
        out[#out + 1] = indent .. keyword .. " " .. v
      end
    else
      out[#out + 1] = indent .. keyword .. " " .. str.join(values, " ")
    end
  end
  return out
end

local declared = {}

local function conf(name, content)
  return file {
    "/etc/ssh/sshd_config.d/" .. name .. ".conf",
    content = content,
    owner = "root",
    group = "root",
    mode = "0600",
    parents = true,
    require = declared.package,
    notify = declared.service,
    validate = { "sshd", "-t", "-f", "%s" },
  }
end

--- Installs sshd, runs it, and writes settings. They come before those of the distribution, so
--- they count. A name that sshd does not know is a mistake, and so is a file that sshd refuses:
--- then nothing is written, and whoever is logged in can log in again.
function sshd.server(options)
  options = options or {}
  declared.package = package { facts.os.family == "arch" and "openssh" or "openssh-server" }
  declared.service = service { facts.os.family == "debian" and "ssh" or "sshd", enable = true, on_change = "reload", require = declared.package }
  local safe = { PermitEmptyPasswords = false, X11Forwarding = false, MaxAuthTries = 4 }
  local settings = tbl.merge(safe, options.settings or {})
  return conf("10-ccm", "# Written by ccm.\n" .. str.join(lines(settings, "", "sshd.server"), "\n") .. "\n")
end

--- Declares settings for some connections: sshd.match { "Group sftp", settings = { ... } }. The
--- criteria are those of Match in sshd_config(5).
function sshd.match(options)
  if not declared.service then error("call sshd.server { ... } before sshd.match", 2) end
  local criteria = options[1] or error("sshd.match wants criteria, such as \"Group sftp\"", 2)
  local text = "# Written by ccm.\nMatch " .. criteria .. "\n" .. str.join(lines(options.settings, "    ", "sshd.match"), "\n") .. "\nMatch all\n"
  local name = str.replace(criteria:lower():gsub("[^%w]+", "-"), "--", "-")
  return conf("50-ccm-" .. name, text)
end

--- Gives a group sftp and nothing else, each user below a directory of their own: root owns it,
--- as ChrootDirectory wants.
function sshd.sftp_only(group_name, directory)
  file { directory, ensure = "directory", owner = "root", group = "root", mode = "0755" }
  return sshd.match {
    "Group " .. group_name,
    settings = {
      ForceCommand = "internal-sftp",
      ChrootDirectory = directory .. "/%u",
      AllowTcpForwarding = false,
      AllowAgentForwarding = false,
      PermitTTY = false,
    },
  }
end

return sshd
