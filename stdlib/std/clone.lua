-- Clones of git repositories, for the type git.

local clone = {}

-- git must not prompt, and not write to the index while only reading.
local environment = { GIT_TERMINAL_PROMPT = "0", GIT_SSH_COMMAND = "ssh -oBatchMode=yes", GIT_OPTIONAL_LOCKS = "0" }

--- A command of git.
function clone.command(words, options)
  return tbl.merge(tbl.concat({ "git" }, words), { env = environment }, options or {})
end

--- Returns what only the clone at a path has, as a list of texts; nil if there is no clone.
function clone.own(host, at)
  if not host.stat(at .. "/.git") then return end
  local found = {}
  local function ask(...)
    local out, code = host.query(clone.command({ ... }, { cwd = at, check = false }))
    return code == 0 and str.lines(out) or nil
  end
  local function add(what, rows)
    if rows and #rows == 0 then return end
    found[#found + 1] = rows and ("%s (%s%s)"):format(what, rows[1], #rows > 1 and (" and %d more"):format(#rows - 1) or "") or "something git cannot read"
  end
  local status = ask("status", "--porcelain", "--ignored")
  if not status then return { "a repository that git cannot read" } end
  local files = { changed = {}, ["??"] = {}, ["!!"] = {} }
  for _, l in ipairs(status) do table.insert(files[l:sub(1, 2)] or files.changed, l:sub(4)) end
  add("uncommitted changes", files.changed)
  add("untracked files", files["??"])
  add("ignored files", files["!!"])
  add("stashes", ask("stash", "list", "--format=%s"))
  add("local commits that the server does not have", ask("log", "--format=%h %s", "--branches", "HEAD", "--not", "--remotes", "--tags"))
  return found
end

return clone
