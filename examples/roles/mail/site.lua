-- Postfix that takes the mail of a machine, or of a network, and hands it to another server, on Debian
-- and RHEL and their relatives. The settings are in site.yaml.
local want = data.load("site.yaml")
local debian = facts.os.family == "debian"
file.defaults { owner = "root", group = "root", mode = "0644" }

local postfix = package { { "postfix", debian and "libsasl2-modules" or "cyrus-sasl-plain" } }

local main = {
  compatibility_level = "3.6",
  myhostname = want.hostname or facts.fqdn,
  myorigin = want.origin or facts.fqdn,
  mydestination = "$myhostname, localhost",
  mynetworks = str.join(want.networks, ", "),
  inet_interfaces = want.interfaces,
  inet_protocols = want.protocols,
  relayhost = ("[%s]:%d"):format(want.relay.host, want.relay.port),
  smtp_tls_security_level = want.relay.tls,
  smtp_tls_CApath = "/etc/ssl/certs",
}

local watched = {}
if want.relay.password_file then
  main.smtp_sasl_auth_enable = "yes"
  main.smtp_sasl_security_options = "noanonymous"
  main.smtp_sasl_password_maps = "texthash:/etc/postfix/sasl_passwd"
  local login = main.relayhost .. " " .. want.relay.user .. ":" .. secret.file(want.relay.password_file) .. "\n"
  watched[1] = file { "/etc/postfix/sasl_passwd", mode = "0600", content = login, require = postfix }
end

-- settings of main.cf in site.yaml win
local lines = { "# Written by ccm." }
for name, value in tbl.pairs(tbl.merge(main, want.main)) do
  lines[#lines + 1] = name .. " = " .. tostring(value)
end
watched[#watched + 1] = file {
  "/etc/postfix/main.cf",
  content = str.join(lines, "\n") .. "\n",
  validate_after = "/usr/sbin/postfix check",
  require = postfix,
}

lines = { "# Written by ccm." }
for name, address in tbl.pairs(want.aliases) do
  lines[#lines + 1] = name .. ": " .. address
end
local aliases = file { "/etc/aliases", content = str.join(lines, "\n") .. "\n" }
exec { "newaliases", refreshonly = true, subscribe = aliases, require = { postfix, watched[#watched] } }

service { "postfix", enable = true, subscribe = watched }
