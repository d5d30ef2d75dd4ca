-- Reads and makes public SSH keys, for the types authorized_key, known_host and user.

local ssh = {}

--- A quoted value, as a regular expression; a quote in it is escaped with a backslash.
ssh.quoted = [["(?:[^"\\]|\\+[^\\])*"]]

--- The options before a key, as in sshd(8): without blanks, except in quotes.
ssh.options = "[A-Za-z](?:" .. ssh.quoted .. [[|\\+[^\s\\]|[^\s"\\])+]]

--- A key, with groups for its type and its data in base64.
ssh.key = [[([a-z][a-z0-9.@-]*-[a-z0-9.@-]+)[ \t]+([A-Za-z0-9+/]{20,}={0,2})]]

--- Returns the parts of a line of authorized_keys, nil if it has no key.
function ssh.authorized(text)
  local m = re.match(text, [[^\s*(?:(]] .. ssh.options .. [[)[ \t]+)??]] .. ssh.key .. [[(?:[ \t]+(.*?))?\s*$]])
  return m and { options = re.find_all(m[1] or "", [[(?:]] .. ssh.quoted .. [[|[^",])+]]), type = m[2], blob = m[3], comment = m[4] or "" }
end

-- Whether data is a key of a type. Each part follows its length in four bytes, and the first part is the type (RFC
-- 4253, 6.6).
local function is_key(data, type)
  local at, first = 1, nil
  while at + 3 <= #data do
    local a, b, c, d = data:byte(at, at + 3)
    local after = at + 4 + ((a * 256 + b) * 256 + c) * 256 + d
    first, at = first or data:sub(at + 4, after - 1), after
  end
  return first == type and at == #data + 1
end

--- Returns the mistake in the text of a key, from which type and blob were read.
function ssh.mistake(text, type, blob)
  if text:find("PRIVATE KEY", 1, true) then return "expected a public key, got a private key (ssh-keygen -y -f FILE prints the public key)" end
  if str.trim(text):find("[\r\n]") then return "expected one line of a .pub file, got several lines" end
  if not type then return "expected a public key such as ssh-ed25519 AAAA..., got " .. inspect(text:sub(1, 40)) .. " (read a .pub file with fs.read)" end
  local decoded, data = pcall(base64.decode, blob)
  if not decoded or not is_key(data, type) then
    return "invalid " .. type .. " key: it is truncated or damaged (copy the whole line of the .pub file)"
  end
end

--- Returns the path of a user's key of the kind want.ssh_key.
function ssh.file(want, have) return path.join(want.home or have.home, ".ssh", "id_" .. want.ssh_key) end

--- Returns what generate leaves for a user whose home, if it is new, is have.at: see leaves of a type.
function ssh.leaves(want, have)
  local file = ssh.file(want, { home = have.home or have.at })
  local dir = { path = path.dir(file) }
  if have.made then dir = { path = dir.path, kind = "directory", mode = "0700", owner = want.name, group = want.group or have.group or want.name } end
  return { dir, { path = file, kind = "file" }, { path = file .. ".pub", kind = "file" } }
end

-- Fails if there is no home directory for the key.
local function check_home(host, home)
  if host.is_directory(home) then return end
  error(("the directory %s for the key does not exist (create it with a new user: manage_home = true)"):format(home), 0)
end

--- Fails if the user's key is missing and no program can make one. found is the present user or nil.
function ssh.check(want, found, host)
  if host.root ~= "/" or found and host.stat(ssh.file(want, found)) then return end
  if not host.which "ssh-keygen" then error("ssh-keygen is not installed (install the package openssh-client or openssh-clients)", 0) end
  local home = want.home or found and found.home
  if home and not want.manage_home then check_home(host, home) end
end

--- Makes a key without a passphrase, and its directory. This is done as the user, to whom the home directory belongs,
--- and in a session without root's terminal, into which the user could type otherwise.
function ssh.generate(host, user, kind, file)
  if host.root == "/" then check_home(host, path.dir(path.dir(file))) end
  local as_user = { "setsid", "--wait", "runuser", "-u", user, "--" }
  host.run(tbl.concat(as_user, { "mkdir", "-p", "-m", "0700", path.dir(file) }))
  host.run(tbl.concat(as_user, { "ssh-keygen", "-q", "-t", kind, "-N", "", "-f", file }))
end

return ssh
