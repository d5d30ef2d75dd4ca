-- What is known about a file of settings from its name: the formats of kv and ini, used by std.formats.

local function ends(pattern) return "(?:^|/)(?:" .. pattern .. ")$" end

-- The formats of each type; the first whose path matches counts.
--   continuation  how a value goes on in the next line (see entries.lua)
--   ignore_case   keys and sections are equal in any case
--   sections      returns the same text for equal names of sections
--   blanks        blanks in a key do not count
--   keys          a regular expression for keys that readers accept
--   flat          sections do not count: the last line with a key does
--   unknown_case  some readers of the format take keys for equal in any case, such as configparser of Python
--   dashes        in keys, - and _ are equal
--   equals        a key may be in quotes, and has an equals sign or blanks behind it
--   names         lists of keys that are names of the same setting
--   quotes        a regular expression for the parts of a value in quotes
--   cut           a regular expression for what readers do not take outside of quotes, such as a comment
--   exports       a key may have the word export before it, as in a shell
--   sign          a regular expression for what is between key and value
--   resets        an empty value takes back those above it
--   alone         a header has no key behind it in its line
--   block         the line that begins a part for some hosts or users only
--   includes      it includes others, and the first value counts
--   repeats       the sections of which each is one of its own, and not a part of one
local ssh = {
  { "KbdInteractiveAuthentication", "ChallengeResponseAuthentication", "SkeyAuthentication", "TISAuthentication" },
  { "PubkeyAcceptedAlgorithms", "PubkeyAcceptedKeyTypes" }, { "HostbasedAcceptedAlgorithms", "HostbasedAcceptedKeyTypes", "HostbasedKeyTypes" },
  { "PubkeyAuthentication", "DSAAuthentication" }, { "TCPKeepAlive", "KeepAlive" },
}
local samba = { -- of smb.conf(5)
  { "hosts allow", "allow hosts" }, { "hosts deny", "deny hosts" }, { "guest ok", "public" }, { "path", "directory" },
  { "browseable", "browsable" }, { "writeable", "writable", "write ok" }, { "log level", "debuglevel" }, { "force group", "group" },
}
local double, both = [["(?:\\.|[^"\\])*"|\\.]], [["(?:\\.|[^"\\])*"|'[^']*'|\\.]]
local shell = [[\$\([^)]*\)|\$\{[^}]*\}|`[^`]*`|]] .. both
local kv = {
  {
    path = ends [[sshd_config(?:\.d/[^/]+|\.[^/]+)?]],
    continuation = "none", ignore_case = true, equals = true, includes = true, names = ssh, block = [=[(?i)^\s*"?Match"?[\s=]]=],
  },
  {
    path = ends [[ssh_config(?:\.d/[^/]+|\.[^/]+)?|\.ssh/config(?:\.d/[^/]+)?]],
    continuation = "none", ignore_case = true, equals = true, includes = true, names = ssh, block = [=[(?i)^\s*"?(?:Host|Match)"?[\s=]]=],
  },
  { path = ends [[chrony\.conf]] .. "|/chrony/", continuation = "none", ignore_case = true },
  { path = ends [[main\.cf]], continuation = "indent", sign = "=" },
  { path = ends [[[^/]+\.cf|aliases|slapd\.conf|[^/]+\.sources|apt/preferences(?:\.d/[^/]+)?]], continuation = "indent" },
  {
    path = ends [[\.?profile|\.(?:bash|zsh)[a-z_]*|profile\.d/[^/]+\.sh]] .. "|^/etc/(?:default|sysconfig|conf\\.d)/",
    continuation = "backslash", exports = true, sign = "=", quotes = shell, cut = [=[[\s;&|<>()"']]=],
  },
  { path = ends [[\.env(?:\.[^/]+)?]], continuation = "backslash", exports = true, sign = "=" },
  { path = ends [[\.?npmrc]], continuation = "none", sign = "=" },
  { path = "", continuation = "backslash" },
}

local units = "(?:service|socket|timer|mount|automount|path|slice|scope|target|swap|network|netdev|link|nspawn|container|pod|volume)"
local ini = {
  { path = ends [[wireguard/[^/]+\.conf]], cut = "#", continuation = "none", ignore_case = true, repeats = "(?i)^Peer$" },
  {
    path = ends [[[^/]+\.(?:netdev|network|link)(?:\.d/[^/]+\.conf)?]], continuation = "backslash", resets = true,
    repeats = "^(WireGuardPeer|Address|Neighbor|Route|NextHop|RoutingPolicyRule|IPv6Prefix|IPv6RoutePrefix|DHCPServerStaticLease|BridgeFDB|BridgeMDB|BridgeVLAN|IPv6AddressLabel|L2TPSession|MACsecReceiveChannel|MACsecTransmitAssociation)$",
  },
  { path = ends([[[^/]+\.]] .. units .. [[|[^/]+\.]] .. units .. [[\.d/[^/]+\.conf]]) .. "|/systemd/", continuation = "backslash", resets = true },
  {
    path = ends [[\.?gitconfig|\.gitmodules|\.?git/config]], continuation = "backslash", ignore_case = true, alone = true, quotes = double, cut = '[#;"]',
    keys = "^[A-Za-z][A-Za-z0-9-]*$", sections = function(name) return (name:gsub('^[^"]*', string.lower)) end,
  },
  { path = ends [[smb\.conf|rsyncd\.conf]], continuation = "backslash", ignore_case = true, blanks = true, names = samba },
  { path = ends [[openssl[^/]*\.cnf]], continuation = "backslash", quotes = both, cut = [=[[#"']]=] },
  { path = ends [[[^/]+\.cnf]], continuation = "none", dashes = true, quotes = both, cut = [=[[#"']]=], sections = string.lower },
  { path = ends [[php[^/]*\.ini]] .. "|/php", continuation = "none", flat = true, quotes = both .. [=[|^[A-Z0-9_ |&~^!()]+$]=], cut = [=[[;"'(){}!|&~^]]=] },
  { path = ends [[pip\.(?:conf|ini)]], continuation = "indent", ignore_case = true, dashes = true, sign = "[=:]", sections = function(name) return name end },
  { path = ends [[pacman\.conf|[^/]+\.(?:desktop|nmconnection)]] .. "|/NetworkManager/", continuation = "none" },
  { path = "", continuation = "indent", unknown_case = true },
}

return { kv = kv, ini = ini }
