-- authorized_key: lets the owner of a key log in as a user by ssh.
--
--   std.authorized_key { "alice as deploy", user = "deploy", key = fs.read "files/alice.pub" }
--   std.authorized_key { "backup", key = "ssh-ed25519 AAAA...", options = { "restrict", 'command="/usr/bin/backup"' } }

local accounts, lines, ssh = require "std.accounts", require "std.lines", require "std.ssh"

-- The text with the wanted key, and the first line of the text with that key.
local function edited(want, text)
  local key, list, eol = ssh.authorized(want.key), lines.split(text)
  local kept, first = {}, nil
  local function render(options, comment)
    return str.trim(str.join({ str.join(want.options or options, ","), key.type, key.blob, want.comment or comment }, " "))
  end
  for _, l in ipairs(list) do
    local have = l:find(key.blob, 1, true) and ssh.authorized(l)
    if not have or have.type ~= key.type or have.blob ~= key.blob then
      kept[#kept + 1] = l
    else
      -- With options there must be one line: if its options refuse the key, sshd tries the other
      -- lines.
      if want.ensure == "present" and not (first and want.options) then
        local same = not want.options or tbl.equal(tbl.sort(want.options), tbl.sort(have.options))
        kept[#kept + 1] = same and (want.comment or have.comment) == have.comment and l or render(have.options, have.comment)
      end
      first = first or have
    end
  end
  if want.ensure == "present" and not first then kept[#kept + 1] = render({}, key.comment) end
  return tbl.equal(kept, list) and text or lines.join(kept, eol), first
end

-- The attributes of the directory and the file. The group of an existing one stays.
local function attributes(want, have, there, mode)
  if want.ensure == "absent" then return {} end
  return { owner = have.uid, group = not there and have.gid or nil, mode = mode }
end

return ccm.type {
  name = "authorized_key",
  doc = "Manages an ssh public key in the authorized_keys file of a user.",
  commands = {},
  properties = {
    name = { name = true, one_line = true, doc = "The user or, if user is given, any name.", example = "deploy" },
    user = { one_line = true, kind = "owner", doc = "The user, who must be in /etc/passwd. Default: the name." },
    key = { required = true, doc = "The public key: the line of a .pub file. Its comment is used for a new line.", example = "ssh-ed25519 AAAA... alice@example.org" },
    options = { type = "list", set = true, one_line = true, doc = "The options before the key, see sshd(8). If unset, an existing line keeps its options; if set, the file has exactly one line with the key.", example = 'from="192.0.2.0/24"' },
    comment = { one_line = true, doc = "The comment after the key. If unset, an existing line keeps its comment." },
    path = { type = "path", doc = "The file, in an existing directory. Default: .ssh/authorized_keys in the home of the user; .ssh is created with mode 0700. The file belongs to the user and has mode 0600." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the key should be in the file. Other lines are kept." },
  },
  phrases = { create = "added the key", update = "updated the key", remove = "removed the key" },

  validate = function(want)
    local key = ssh.authorized(want.key) or {}
    local wrong = ssh.mistake(want.key, key.type, key.blob)
    if wrong then return "key", wrong end
    if #key.options > 0 then return "key", "expected options separate from the key: options = " .. inspect(key.options) end
    for _, o in ipairs(want.options or {}) do
      if not re.test(o, [[^[A-Za-z0-9-]+(?:=]] .. ssh.quoted .. [[)?$]]) then
        return "options", [[expected options such as no-pty and command="/bin/true", got ]] .. inspect(o)
      end
    end
  end,

  status = function(want, host)
    local name = want.user or want.name
    local user = accounts.user(host, name)
    if not user or not user.home then
      if want.ensure == "absent" then return { ensure = "absent" } end
      host.pending_user(name, { needed = true })
      error("no such user " .. inspect(name) .. " in /etc/passwd", 0)
    end
    local home = want.path and path.dir(want.path) or user.home
    local dir = not want.path and path.join(home, ".ssh") or nil
    -- In a plan, a user who is to be made has no numbers yet.
    local have = { uid = tostring(user.uid or name), gid = tostring(user.gid or user.group), dir = dir, path = want.path or path.join(dir, "authorized_keys"), wrong = {} }
    if want.ensure == "present" and not host.is_directory(home) then error("expected a directory at " .. home, 0) end
    -- A link may have been made by the user, and lead anywhere.
    local function look(path, kind, mode)
      local found = host.stat(path)
      if found and found.kind ~= kind then error(("expected a %s at %s, found a %s, which is not replaced"):format(kind, path, found.kind), 0) end
      local own = found and (found.uid == user.uid or not user.uid and found.owner == name)
      if found and want.ensure == "present" and not (own and found.mode == mode) then
        table.insert(have.wrong, { "path", ("%s %s %s"):format(path, found.owner, found.mode), ("%s %s %s"):format(path, name, mode) })
      end
      return found ~= nil
    end
    have.made = have.dir and look(have.dir, "directory", "0700")
    have.there = have.made ~= false and look(have.path, "file", "0600")
    have.text = have.there and host.read(have.path) or ""
    local _, found = edited(want, have.text)
    return tbl.merge(have, { ensure = found and "present" or "absent" }, found and tbl.pick(found, { "options", "comment" }) or {})
  end,

  decide = function(want, have, compare)
    local d, now = compare(), have.text and edited(want, have.text)
    if now ~= have.text and #d.diff == 0 then d.diff = { { "options", "others in another line", "only these" } } end
    if have.ensure == "present" then d.diff = tbl.concat(d.diff, have.wrong) end
    if #d.diff > 0 and #d.actions == 0 then d.actions = { { "update", "updated the key" } } end
    if now ~= have.text then d.text = { path = have.path, have = have.text, want = now } end
    return d
  end,

  leaves = function(want, have)
    if not have then return { want.path and { path = want.path } }, not want.path end
    local list = { tbl.merge({ path = have.path, kind = "file", content = edited(want, have.text) }, attributes(want, have, have.there, "0600")) }
    if have.dir and want.ensure == "present" then list[2] = tbl.merge({ path = have.dir, kind = "directory" }, attributes(want, have, have.made, "0700")) end
    return list
  end,

  perform = function(action, want, have, host)
    if have.dir and action ~= "remove" then host.mkdir(have.dir, attributes(want, have, have.made, "0700")) end
    host.write(have.path, edited(want, host.read(have.path) or ""), attributes(want, have, have.there, "0600"))
  end,
}
