-- git: keeps a clone of a repository at a branch, a tag or a commit.
--
--   std.git { "/srv/app", url = "https://git.example.org/app.git", ref = "v1.4" }
--
-- A plan only asks the server for the commit of the ref, and fetches nothing.

local clone = require "std.clone"

local command = clone.command

local function is_commit(ref) return re.test(ref, "^[0-9a-f]{40}$") end

-- The commit of the ref at the url.
local function resolve(host, want)
  if is_commit(want.ref) then return want.ref end
  local out = host.query(command { "ls-remote", "--", want.url, want.ref, want.ref .. "^{}" })
  local found = {}
  for _, l in ipairs(str.lines(out)) do
    local commit, name = str.cut(l, "\t")
    found[name] = commit
  end
  for _, name in ipairs { "refs/heads/" .. want.ref, "refs/tags/" .. want.ref .. "^{}", "refs/tags/" .. want.ref, want.ref } do
    if found[name] then return found[name], str.starts(name, "refs/heads/") end
  end
  error(("no such branch or tag in %s: %s"):format(want.url, want.ref), 0)
end

-- The URL of the clone, "" if it has none.
local function origin(host, want)
  return (host.query(command({ "config", "--get", "remote.origin.url" }, { cwd = want.path, check = false })))
end

return ccm.type {
  name = "git",
  doc = "Manages a clone of a git repository at a branch, tag or commit. Requires git.",
  live = true, commands = { "git" },
  properties = {
    path = { type = "path", name = true, doc = "The path of the clone.", example = "/srv/app" },
    url = { one_line = true, kind = "url", doc = "The URL or path of the repository. Required unless ensure is absent." },
    ref = { one_line = true, default = "HEAD", doc = "A branch, a tag or a full commit hash. HEAD is the default branch at the time of cloning." },
    update = { type = "boolean", default = true, doc = "Whether to update the clone when the branch or tag moves." },
    submodules = { type = "boolean", default = false, doc = "Whether to update submodules recursively to the commits recorded in the clone." },
    force = { type = "boolean", default = false, doc = "Whether to discard changes in the clone. Otherwise a changed clone is an error." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the clone should exist. With absent the directory is removed; it is kept if it has uncommitted changes, stashes or unpushed commits, unless force or with_data is true." },
  },
  phrases = { create = "cloned the repository", update = "updated the clone", remove = "removed the clone" },

  validate = function(want)
    if want.ensure == "present" and not want.url then return "url is required unless ensure is absent" end
    if str.starts(want.ref, "-") then return "ref", "expected a branch, a tag or a commit, got " .. inspect(want.ref) end
    if str.starts(want.url or "", "-") then return "url", "expected a URL or a path, got " .. inspect(want.url) end
  end,

  status = function(want, host)
    local found = host.stat(want.path)
    if want.ensure == "absent" then
      local only = found and found.kind == "directory" and not want.force and clone.own(host, want.path)
      local kept = only and #only > 0 and ("%s has %s"):format(want.path, str.join(only, ", ")) or nil
      return { ensure = found and "present" or "absent", kept = kept, keeps = found and (want.force or only) and {} or nil }
    end
    if found and found.kind ~= "directory" then error("expected a directory, found a " .. found.kind, 0) end
    if not host.stat(want.path .. "/.git") then
      if found and #host.list(want.path) > 0 then error("expected a clone, found a directory with other content", 0) end
      return { ensure = "absent" }
    end
    local function ask(...) return (host.query(command({ ... }, { cwd = want.path }))) end
    local have = { ensure = "present", url = origin(host, want), ref = want.ref }
    local head = host.query(command({ "rev-parse", "--verify", "-q", "HEAD" }, { cwd = want.path, check = false }))
    -- An incomplete clone without a commit.
    if head == "" then return tbl.merge(have, { ref = "no commit" }) end
    local wanted = head
    if want.ref ~= "HEAD" and (want.update or is_commit(want.ref)) then wanted = resolve(host, want) end
    if head ~= wanted then have.ref = head:sub(1, 12) end
    local changed = ask("status", "--porcelain", "--untracked-files=no", want.submodules and "--ignore-submodules" or nil) ~= ""
      or ask("rev-list", "--max-count=1", head, "--not", "--remotes", "--tags") ~= ""
    if changed and not want.force then error("the clone has changes (discard them with force = true)", 0) end
    if changed then have.ref = head:sub(1, 12) .. " with changes" end
    if want.submodules then have.submodules = not re.test(ask("submodule", "status", "--recursive"), "(?m)^[-+U]") end
    return have
  end,

  leaves = function(want, have)
    if want.ensure == "absent" then return { { path = want.path, kind = "absent", keeps = have and have.keeps, kept = have and have.kept } } end
    return { { path = want.path, kind = "directory", open = true } }
  end,

  programs = function(action) return action ~= "remove" and { "git" } or {} end,

  perform = function(action, want, have, host)
    if action == "remove" then return host.remove(want.path, { recursive = true }) end
    if action == "create" then host.query { "git", "--version" } host.mkdir(want.path) end -- no directory without git
    local function run(...) host.run(command({ ... }, { cwd = want.path })) end
    if action == "create" then run("init", "--quiet") end
    run("remote", origin(host, want) == "" and "add" or "set-url", "origin", want.url) -- an earlier try may have come this far
    run("fetch", "--quiet", "--tags", "--force", "origin")
    local commit, branch
    if want.ref == "HEAD" then
      run("remote", "set-head", "origin", "--auto")
      commit = "refs/remotes/origin/HEAD"
    else
      commit, branch = resolve(host, want)
    end
    local words = branch and { "checkout", "--quiet", "-B", want.ref } or { "checkout", "--quiet", "--detach" }
    run(unpack(tbl.concat(words, want.force and { "--force" } or {}, { commit })))
    if want.submodules then
      run("submodule", "--quiet", "sync", "--recursive")
      run("submodule", "--quiet", "update", "--init", "--recursive", want.force and "--force" or "--checkout")
    end
  end,
}
