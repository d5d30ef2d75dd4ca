-- The common parts of the types for package repositories.
local repos = {}

--- Returns the mistake in a name, which becomes that of a file.
function repos.bad_name(name)
  if not re.test(name, [[^\w[\w.-]*$]]) then return "name", "expected letters, digits, dots, hyphens and underscores, got " .. inspect(name) end
end

--- Returns the mistake in a key that is given as text.
function repos.bad_key(want)
  if want.key == "" then return "key", "expected a key in ASCII armor, got an empty string" end
  if re.test(want.key or "", [[^\w+://]]) then
    return "key", ('expected the key itself, in ASCII armor, got a URL (download the key, check its fingerprint and give key = fs.read "files/%s.asc")'):format(want.name)
  end
end

--- Writes the files of a repository, each { path, text, old text or nil }, and runs the command that reads its index,
--- if the machine is running. If that fails, the old files are restored, so that the next run tries again.
function repos.write(host, files, command)
  for _, f in ipairs(files) do
    host.mkdir(path.dir(f[1]))
    host.write(f[1], f[2], { mode = "0644" })
  end
  if host.root ~= "/" or not command then return end
  local read, fault = pcall(host.run, command)
  if read then return end
  for _, f in ipairs(files) do
    if f[3] then host.write(f[1], f[3]) else host.remove(f[1]) end
  end
  error(fault, 0)
end

repos.phrases = { create = "added the repository", update = "updated the repository", remove = "removed the repository" }

return repos
