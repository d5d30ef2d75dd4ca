-- known_host: keeps the public key by which ssh recognises a host.
--
--   std.known_host { "git.example.org", key = fs.read "files/git.pub" }
--   std.known_host { "[git.example.org]:2222", key = "ssh-ed25519 AAAA...", path = "/root/.ssh/known_hosts" }

local lines, ssh = require "std.lines", require "std.ssh"

-- The parts of a line with a key, nil for other lines, such as those that begin with a marker (@revoked).
local function parsed(text)
  local m = re.match(text, [[^\s*([^\s#@]\S*)[ \t]+]] .. ssh.key .. [[(?:[ \t]|$)]])
  return m and { names = str.split(m[1], ","), type = m[2], blob = m[3] }
end

local function key_of(text)
  local m = re.match(text or "", [[^\s*]] .. ssh.key .. [[(?:[ \t]|\s*$)]])
  return m and { type = m[1], blob = m[2] } or {}
end

-- Whether an entry is the name, in plain text or as |1|salt|HMAC-SHA1 of the name with the salt, both in base64.
local function is_name(entry, name)
  local salt, digest = entry:match("^|1|([^|]+)|([^|]+)$")
  if not salt then return entry:lower() == name end
  local decoded, bytes = pcall(base64.decode, salt)
  if not decoded then return false end
  local hex = hash.hmac("sha1", bytes, name)
  return base64.encode((hex:gsub("%x%x", function(x) return string.char(tonumber(x, 16)) end))) == digest
end

-- The text with the host's wanted line, and the present one: the right line, or the first wrong one.
local function edited(want, text)
  local name, key = want.name:lower(), key_of(want.key)
  local list, eol = lines.split(text)
  local kept, right, wrong, at = {}, nil, nil, nil
  for _, l in ipairs(list) do
    local have = parsed(l)
    local named = have and (not key.type or have.type == key.type) and tbl.any(have.names, function(n) return is_name(n, name) end)
    if not named or want.ensure == "present" and have.blob == key.blob then
      kept[#kept + 1] = l
      right = right or named and have
    else
      wrong, at = wrong or have, at or #kept + 1
      local others = tbl.filter(have.names, function(n) return not is_name(n, name) end)
      if #others > 0 then kept[#kept + 1] = re.replace(l, [[^(\s*)\S+]], function(m) return m[1] .. str.join(others, ",") end) end
    end
  end
  if want.ensure == "present" and not right then
    table.insert(kept, at or #kept + 1, str.join({ name, key.type, key.blob }, " "))
  end
  return tbl.equal(kept, list) and text or lines.join(kept, eol), wrong or right
end

return ccm.type {
  name = "known_host",
  doc = "Manages the public host key that ssh trusts for a host. A host has one key of each type, such as ssh-ed25519.",
  commands = {},
  properties = {
    name = { name = true, doc = "The name or address of the host; with a port, [name]:port. Hashed names in the file are recognized, patterns are not.", example = "git.example.org" },
    key = { doc = "The public key, as printed by ssh-keyscan or in a .pub file, without the host name. Required unless ensure is absent.", example = "ssh-ed25519 AAAA..." },
    path = { type = "path", default = "/etc/ssh/ssh_known_hosts", doc = "The file, in an existing directory." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the host should have the key. With absent, keys of the type of key are removed, or all keys of the host without key." },
  },
  phrases = { create = "added the host", update = "changed the key of the host", remove = "removed the host" },

  validate = function(want)
    if not re.test(want.name, [[^(\[[\w.:%-]+\]:\d+|[\w.:%-]+)$]]) then return "name", "expected a name such as git.example.org or [git.example.org]:2222, got " .. inspect(want.name) end
    if not want.key then
      if want.ensure == "present" then return "key", "is required unless ensure is absent" end
      return
    end
    local key = key_of(want.key)
    local wrong = ssh.mistake(want.key, key.type, key.blob)
    if wrong then return "key", wrong end
  end,

  status = function(want, host)
    local dir, found = path.dir(want.path), host.stat(want.path)
    if not found and want.ensure == "present" and not host.is_directory(dir) then error("expected a directory at " .. dir, 0) end
    if found and found.kind ~= "file" then error(("expected a file at %s, found a %s, which is not replaced"):format(want.path, found.kind), 0) end
    local have = { text = found and host.read(want.path) or "" }
    local _, line = edited(want, have.text)
    have.ensure = line and "present" or "absent"
    have.key = line and (line.blob == key_of(want.key).blob and want.key or line.type .. " " .. line.blob) or nil
    return have
  end,

  decide = function(want, have, compare)
    local d, now = compare(), (edited(want, have.text))
    if now ~= have.text then d.text = { path = want.path, have = have.text, want = now } end
    return d
  end,

  leaves = function(want, have)
    return { { path = want.path, kind = have and "file", content = have and edited(want, have.text) } }
  end,

  perform = function(_, want, _, host) host.write(want.path, (edited(want, host.read(want.path) or ""))) end,
}
