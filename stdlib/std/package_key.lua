-- package_key: keeps a key that signs packages where the package manager looks for it.
--
--   std.package_key { "example", key = fs.read "files/example.asc" }

local repos = require "std.repos"

-- The directories of keys, by store.
local directories = { apt = "/etc/apt/keyrings", rpm = "/etc/pki/rpm-gpg" }

local function store(want)
  if want.store then return want.store end
  local manager = fact("package_manager") -- an image may have none yet
  return (manager == "dnf" or manager == "yum" or manager == "zypper") and "rpm" or "apt"
end

local function file(want) return directories[store(want)] .. "/" .. want.name .. ".asc" end

-- The key without headers, line breaks and checksum, which differ between programs.
local function body(armored)
  local found = {}
  for _, l in ipairs(str.lines(armored)) do
    l = str.trim(l)
    if re.test(l, "^[A-Za-z0-9+/]{4,}={0,2}$") then found[#found + 1] = l end
  end
  return str.join(found, "")
end

-- The name of the key in rpm, which keeps keys as packages; nil if rpm does not have it.
local function imported(want, host)
  if store(want) ~= "rpm" or host.root ~= "/" then return nil end
  local key = body(want.key or host.read(file(want)) or "")
  if key == "" then return nil end
  local out = host.query { "rpm", "-q", "gpg-pubkey", "--qf", [[@%{NAME}-%{VERSION}-%{RELEASE}\n%{DESCRIPTION}\n]], check = false }
  for _, part in ipairs(str.split("\n" .. out, "\n@")) do
    local name, text = str.cut(part, "\n")
    if text and body(text) == key then return name end
  end
end

-- Whether the database of rpm changes.
local function calls_rpm(want, have)
  if want.ensure == "absent" then return have.imported ~= nil end
  return not have.known
end

return ccm.type {
  name = "package_key",
  doc = "Manages a package signing key: for apt in /etc/apt/keyrings, for rpm in /etc/pki/rpm-gpg and its database.",
  commands = { "rpm" },
  properties = {
    name = { name = true, doc = "The name of the file, without a suffix.", example = "example" },
    key = { doc = "The key in ASCII armor, not its URL. To remove a key from the rpm database, the default is the key in the file." },
    store = { enum = { "apt", "rpm" }, doc = "The package format of the key. Default: that of the machine's package manager." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the key should exist." },
  },
  phrases = { create = "added the key", update = "updated the key", remove = "removed the key" },

  validate = function(want)
    if repos.bad_name(want.name) then return repos.bad_name(want.name) end
    if repos.bad_key(want) then return repos.bad_key(want) end
    if want.ensure == "present" and not want.key then return "key", "is required unless ensure is absent" end
    if want.key and want.key:find("PGP PRIVATE KEY", 1, true) then
      return "key", "expected a public key, got a private key (gpg --armor --export prints the public key)"
    end
  end,

  status = function(want, host)
    local text, name = host.read(file(want)), imported(want, host)
    local known = name ~= nil or store(want) ~= "rpm" or host.root ~= "/"
    return { ensure = (text or name) and "present" or "absent", key = text or "", known = known, imported = name }
  end,

  decide = function(want, have, compare)
    local d = compare()
    if want.ensure == "present" and have.ensure == "present" and #d.diff == 0 and not have.known then
      return { diff = { { "key", "not in the database of rpm", "imported" } }, actions = { { "update", "imported the key" } } }
    end
    return d
  end,

  leaves = function(want, have)
    local list = { want.ensure == "absent" and { path = file(want), kind = "absent" } or { path = file(want), kind = "file", content = want.key, mode = "0644" } }
    if not have and store(want) == "rpm" or have and calls_rpm(want, have) then list = tbl.concat(list, { { path = "/var/lib/rpm" }, { path = "/usr/lib/sysimage/rpm" } }) end
    return list, "commands"
  end,

  programs = function(_, want, have) return calls_rpm(want, have) and { "rpm" } or {} end,

  recreate = require("std.recreate").package_key,

  perform = function(action, want, have, host)
    if action == "remove" then
      host.remove(file(want))
      if have.imported then host.run { "rpm", "-e", "--allmatches", have.imported } end
      return
    end
    host.mkdir(directories[store(want)])
    host.write(file(want), want.key, { mode = "0644" })
    if not have.known then host.run { "rpm", "--import", host.real(file(want)) } end
  end,
}
