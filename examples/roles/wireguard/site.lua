-- The hub of a WireGuard network: its key, which never leaves the machine, the peers, and forwarding
-- between them. The settings are in site.yaml. `wg pubkey < KEY` shows the public key for the peers.
local sysctl = require "std.sysctl"
local want = data.load("site.yaml")
file.defaults { owner = "root", group = "root", mode = "0600" }

local seen = {}
for _, peer in ipairs(want.peers) do
  if not re.test(peer.public_key, "^[A-Za-z0-9+/]{43}=$") then ccm.fail("peer " .. peer.name .. ": public_key is not one of WireGuard") end
  for _, address in ipairs(peer.addresses) do
    if seen[address] then ccm.fail(("peers %s and %s both have %s"):format(seen[address], peer.name, address)) end
    seen[address] = peer.name
  end
end

local tools = package { "wireguard-tools" }
local dir = file { "/etc/wireguard", ensure = "directory", mode = "0700", require = tools }
local key_file = "/etc/wireguard/" .. want.interface .. ".key"
local key = exec {
  "key of " .. want.interface,
  command = { "sh", "-c", 'wg genkey > "$0"', key_file },
  umask = "077",
  creates = key_file,
  require = dir,
}
local conf = file {
  "/etc/wireguard/" .. want.interface .. ".conf",
  content = template.render("templates/interface.conf.tmpl", want),
  require = dir,
}

if want.forward then
  sysctl { "net.ipv4.ip_forward", value = 1 }
end

service { "wg-quick@" .. want.interface, enable = true, require = key, subscribe = conf }
