-- What is known about a file of settings from its name, for the types kv and ini.

local formats = {}

local function ends(pattern) return "(?:^|/)(?:" .. pattern .. ")$" end

-- The formats of each type; the first whose path matches counts.
--   continuation  how a value goes on in the next line (see entries.lua)
--   ignore_case   keys and sections are equal in any case
--   unknown_case  some readers of the format take keys for equal in any case, such as configparser of Python
--   dashes        in keys, - and _ are equal
--   equals        a key may be in quotes, and has an equals sign or blanks behind it
--   names         lists of keys that are names of the same setting
--   quotes        a regular expression for the parts of a value in quotes
--   cut           a regular expression for what readers do not take outside of quotes, such as a comment
--   exports       a key may have the word export before it, as in a shell
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
  { path = ends [[[^/]+\.cf|aliases|slapd\.conf|[^/]+\.sources|apt/preferences(?:\.d/[^/]+)?]], continuation = "indent" },
  { path = [[^/etc/(?:default|sysconfig|conf\.d)/]], continuation = "backslash", exports = true, quotes = shell, cut = [=[[\s;&|<>()"']]=] },
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
  { path = ends [[\.?gitconfig|\.gitmodules|\.?git/config]], continuation = "backslash", ignore_case = true, alone = true, quotes = double, cut = '[#;"]' },
  { path = ends [[smb\.conf|rsyncd\.conf]], continuation = "backslash", ignore_case = true },
  { path = ends [[openssl[^/]*\.cnf]], continuation = "backslash", quotes = both, cut = [=[[#"']]=] },
  { path = ends [[[^/]+\.cnf]], continuation = "none", dashes = true, quotes = both, cut = [=[[#"']]=] },
  { path = ends [[php[^/]*\.ini]] .. "|/php", continuation = "none", quotes = both, cut = [=[[;"']]=] },
  { path = ends [[pacman\.conf|[^/]+\.(?:desktop|nmconnection)]] .. "|/NetworkManager/", continuation = "none" },
  { path = "", continuation = "indent", unknown_case = true },
}

-- Returns the format of the file, with the continuation that is wanted, if any.
local function of(list, want)
  local format = tbl.copy(tbl.find(list, function(f) return re.test(want.path, f.path) end))
  format.continuation = want.continuation or format.continuation
  --- Returns a text of the same length, in which equal keys are equal texts.
  function format.fold(text)
    if format.ignore_case then text = text:lower() end
    return format.dashes and text:gsub("_", "-") or text
  end
  -- The key and its other names.
  local function names(key)
    return tbl.find(format.names or {}, function(list) return tbl.contains(tbl.map(list, string.lower), key:lower()) end) or { key }
  end
  --- Returns a regular expression that matches a key.
  function format.pattern(key)
    key = str.join(tbl.map(names(key), re.escape), "|")
    if format.equals then key = '"?(?:' .. key .. ')"?' end
    return (format.ignore_case and "(?i:" or "(?:") .. (format.dashes and key:gsub("[-_]", "[-_]") or key) .. ")"
  end
  --- Returns the positions of the lines of a text that may have the key.
  function format.having(text, key)
    local fold, found = format.unknown_case and string.lower or format.fold, {}
    for _, name in ipairs(names(key)) do found = tbl.concat(found, re.grep(fold(text), re.escape(fold(name)))) end
    return #names(key) == 1 and found or tbl.sort(tbl.unique(found))
  end
  --- Returns a warning if a reader of the file takes only a part of one of the new values.
  function format.misread(key, values)
    for _, value in ipairs(format.cut and values or {}) do
      local bare = value and format.quotes and re.replace(value, format.quotes, "") or value
      local m = bare and re.match(bare, format.cut .. ".*$")
      if m then return ("%s %s do not take all of the value of %s, because of %s%s"):format(format.exports and "shells that read" or "readers of", want.path, key, inspect(m[0]), format.quotes and " (put the value in quotes)" or "") end
    end
  end
  return format
end

--- Returns a warning if a line sets the key in another case.
function formats.other_case(path, key, line)
  local m = re.match(line, [[^\s*(?i:(]] .. re.escape(key) .. [[))\s*[=:]\s*]])
  if not m or m[1] == key then return nil end
  return ("%s has the key %s, which is %s for readers that ignore case (write the key as the file does)"):format(path, m[1], key)
end

--- The property continuation of the types.
formats.continuation = {
  enum = { "none", "indent", "backslash" },
  doc = "How values continue on the next line: not at all, by indentation, or by a backslash at the end of the line. The default depends on the file name.",
}

--- Returns the format of a file of keys and values.
function formats.kv(want) return of(kv, want) end

--- Returns the format of a file of sections.
function formats.ini(want) return of(ini, want) end

return formats
