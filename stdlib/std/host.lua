-- host: keeps the address of a host and its names in /etc/hosts.
--
--   std.host { "db.example.org", ip = "192.0.2.10", aliases = { "db" } }
--   std.host { "db over IPv6", host = "db.example.org", ip = "2001:db8::10" }
--   std.host { "old.example.org", ensure = "absent" }

local lines = require "std.lines"

-- The canonical form of an address.
local function canonical(ip) return net.is_address(ip) and net.address(ip).address or ip end

-- The parts of a line: its address, its names, and its comment with the white space before it.
local function parsed(text)
  local m = re.match(text, [[^\s*([^\s#]+)\s+([^\s#][^#]*?)(\s*(?:#.*)?)$]])
  return m and { ip = canonical(m[1]), names = str.fields(m[2]), comment = m[3] }
end

-- Whether two addresses are both of IPv4, or both of IPv6.
local function is_alike(a, b) return a:find(":", 1, true) == nil == (b:find(":", 1, true) == nil) end

local function lower(list) return tbl.map(list, function(n) return n:lower() end) end

-- The positions of the lines with one of the words, in order. Lines about other hosts are not split, because most
-- lines of a long file are.
local function naming(text, words)
  local found, small = {}, text:lower()
  for _, word in ipairs(words) do
    found = tbl.concat(found, (lines.matching(small, re.escape(word))))
  end
  return tbl.sort(tbl.unique(found))
end

-- The wanted aliases without repetitions and without the name itself; nil to keep the present ones.
local function aliases_of(want, name)
  if not want.aliases then return nil end
  local seen = { [name:lower()] = true }
  return tbl.filter(want.aliases, function(a)
    local new = not seen[a:lower()]
    seen[a:lower()] = true
    return new
  end)
end

local function is_name(name) return re.test(name, [[^[\w.-]+$]]) end

return ccm.type {
  name = "host",
  doc = "Manages the address of a host and its names in /etc/hosts. A host has at most one IPv4 and one IPv6 address.",
  commands = {},
  properties = {
    name = { name = true, doc = "The name of the host or, if host is given, any name.", example = "db.example.org" },
    host = { doc = "The host name, the first name on its line. Default: the name." },
    ip = { doc = "The address. Required unless ensure is absent. With absent, lines of the other address family are kept.", example = "192.0.2.10" },
    aliases = { type = "list", doc = "Additional names. They are removed from lines of other hosts. If unset, existing names are kept.", example = "db" },
    path = { type = "path", default = "/etc/hosts", doc = "The file." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the line should exist. With absent the name is also removed from lines of others." },
  },
  phrases = { create = "added the host", update = "changed the host", remove = "removed the host" },

  validate = function(want)
    local name = want.host or want.name
    if not is_name(name) then return want.host and "host" or "name", "expected a host name, got " .. inspect(name) end
    if not want.ip and want.ensure == "present" then return "ip", "is required unless ensure is absent" end
    if want.ip and not net.is_address(want.ip) then return "ip", "expected an address such as 192.0.2.10 or 2001:db8::10, got " .. inspect(want.ip) end
    for _, a in ipairs(want.aliases or {}) do
      if not is_name(a) then return "aliases", "expected host names, got " .. inspect(a) end
    end
  end,

  edit = function(want, text)
    local name, present = want.host or want.name, want.ensure == "present"
    local ip, wanted = want.ip and canonical(want.ip), aliases_of(want, name)
    local mine = lower(tbl.concat({ name }, present and wanted or {}))
    local changes, own, at, ips = {}, nil, nil, {}
    for _, n in ipairs(naming(text, mine)) do
      local have = parsed(lines.of(text)[n])
      if have and ip and not is_alike(ip, have.ip) then have = nil end
      local names = have and lower(have.names) or {}
      local others = have and tbl.filter(have.names, function(x) return not tbl.contains(mine, x:lower()) end) or {}
      if tbl.contains(names, mine[1]) then ips[#ips + 1] = have.ip end
      if names[1] == mine[1] and present and not own then
        own, at = have, n
      elseif #others == #names then -- another host
      elseif names[1] ~= mine[1] and #others > 0 then
        changes[#changes + 1] = { from = n, to = n, lines = { have.ip .. "\t" .. str.join(others, " ") .. have.comment } }
      else
        changes[#changes + 1] = { from = n, to = n, lines = {} }
      end
    end
    local aliases = own and tbl.slice(own.names, 2) or {}
    -- Only ccm status and ccm import read a host without an address.
    if present and not ip then return text, own and { ensure = "present", ip = own.ip, aliases = aliases } or { ensure = "absent" } end
    if present and not (own and own.ip == ip and tbl.equal(lower(aliases), lower(wanted or aliases))) then
      local line = ip .. "\t" .. str.join(tbl.concat({ name }, wanted or aliases), " ") .. (own and own.comment or "")
      changes[#changes + 1] = { from = at, to = at, lines = { line } }
    end
    if #changes == 0 then return text end
    local now, found = lines.changed(text, tbl.sort_by(changes, function(c) return c.from or math.huge end)), str.join(ips, ", ")
    -- If only lines of others change, the host is added like a new one.
    if not own or found == ip and tbl.equal(aliases, wanted or aliases) then return now end
    return now, { ensure = "present", ip = found == ip and want.ip or found, aliases = aliases }, { aliases = wanted }
  end,
}
