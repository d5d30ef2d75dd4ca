-- Tells whether somebody else could lead a command of root elsewhere, for types that hand a path
-- to a command: it follows the links in it, also one that a user puts there meanwhile.

local safepath = {}

--- Returns who could put something else in the place of a path, or of a directory or link on the
--- way to it, in words; nil if nobody but root and the user who runs ccm. What is not there yet is
--- judged when it is.
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
      if dir.kind ~= "directory" then return nil end -- the command says so
      if not ours[dir.uid] then return ("%s belongs to %s"):format(at, dir.owner) end
      local open, sticky = re.test(dir.mode, "[2367]$"), re.test(dir.mode, "^[1357]...$")
      if open and not sticky then return ("everybody may write %s"):format(at) end
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

return safepath
