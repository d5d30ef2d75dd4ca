-- Checks paths before a type uses them: whether another user could redirect a command of root, and whether more would
-- be removed or copied than anybody can want.

local safepath = {}

--- Returns, in words, who could replace a path, or a directory or link on it; nil if only root and the user of ccm
--- could. A missing part is checked once it exists. Commands follow all links in a path, also one that a user puts
--- there meanwhile.
function safepath.weakness(host, name)
  local at, dir, links = "/", host.stat("/"), 0
  local ours = { [0] = true, [dir.uid] = true, [fact("user.uid", 0)] = true }
  local rest = str.split(name, "/")
  while #rest > 0 do
    local step = table.remove(rest, 1)
    if step == ".." then
      at = path.dir(at)
      dir = host.stat(at)
    elseif step ~= "" and step ~= "." then
      if dir.kind ~= "directory" then return nil end -- the command reports it
      if not ours[dir.uid] then return ("%s belongs to %s"):format(at, dir.owner) end
      local open, sticky = re.test(dir.mode, "[2367]$"), re.test(dir.mode, "^[1357]...$")
      if open and not sticky then return ("%s is world-writable"):format(at) end
      local next = path.join(at, step)
      local found = host.stat(next)
      if not found then return nil end
      if open and not ours[found.uid] then return ("%s belongs to %s"):format(next, found.owner) end
      if found.kind == "link" then
        links = links + 1
        if links > 40 then return ("%s has too many links"):format(name) end
        rest = tbl.concat(str.split(found.target, "/"), rest)
        if str.starts(found.target, "/") then at, dir = "/", host.stat("/") end
      else
        at, dir = next, found
      end
    end
  end
end

--- Returns a path as it is without the links in it, nil if there are too many links.
function safepath.resolved(host, name)
  local at, links, rest = "/", 0, str.split(name, "/")
  while #rest > 0 do
    local next = path.join(at, table.remove(rest, 1))
    local found = host.stat(next)
    if found and found.kind == "link" then
      links = links + 1
      if links > 40 then return nil end
      rest = tbl.concat(str.split(found.target, "/"), rest)
      if str.starts(found.target, "/") then at = "/" end
    else
      at = next
    end
  end
  return at
end

--- Whether something is at a path. A link counts if its target exists.
function safepath.exists(host, name)
  local at = safepath.resolved(host, name)
  return at ~= nil and host.stat(at) ~= nil
end

--- Fails if what is found at a path is not a directory, and names the target of a link.
function safepath.check_directory(host, name, found)
  if found.kind == "directory" then return end
  local way = found.kind == "link" and (" (manage its target with path = %q)"):format(safepath.resolved(host, name) or found.target) or ""
  error("expected a directory, found a " .. found.kind .. ", which is not replaced" .. way, 0)
end

--- Fails if there is a link on the path of a mount point: the kernel lists what is mounted by the path without links.
function safepath.refuse_link(host, point)
  local real = safepath.resolved(host, point)
  if real ~= point then error(("%s is a link to %s (use the target as the mount point)"):format(point, real or "itself"), 0) end
end

--- Fails if another user could put a link on the way to a home directory: useradd, usermod and userdel follow links.
function safepath.check_home(host, home)
  local weakness = host.root == "/" and safepath.weakness(host, home)
  if weakness then error(("%s, so a link could redirect manage_home on the way to %s (use a home below directories of root)"):format(weakness, home), 0) end
end

-- Whether an entry of the source is excluded from the copy.
local function left_out(want, name)
  return tbl.any(want.exclude or {}, function(p) return path.match(p, name) or path.match(p, path.base(name)) end)
end

--- Raises an error if the directory is in its own source, and would be copied into itself, or if purge would remove
--- its source.
function safepath.check_copy(want, host)
  local at = (host.root == "/" and "" or host.root) .. want.path
  if want.purge and str.starts(want.source or "", at .. "/") then error(("the source %s is inside %s and would be purged"):format(want.source, want.path), 0) end
  if not want.source or not str.starts(at, want.source .. "/") then return end
  local name = ""
  for _, part in ipairs(str.split(at:sub(#want.source + 2), "/")) do
    name = name == "" and part or name .. "/" .. part
    if left_out(want, name) then return end
  end
  error(("%s is inside the source %s and would be copied into itself (exclude it with exclude = { %q })"):format(want.path, want.source, name), 0)
end

--- Whether a directory is too important for purge: one directly below /, such as /etc, a system directory, or a home
--- directory.
function safepath.is_precious(p) return re.test(p, [[^/[^/]*$|^/(usr|var|boot|home|lib|lib64|run|dev|proc|sys)/[^/]+$|^/var/lib/(dpkg|rpm|ccm)$]]) end

return safepath
