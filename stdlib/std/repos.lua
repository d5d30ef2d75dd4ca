-- What the types of package repositories share, and no type itself.
local repos = {}

--- Returns what is wrong with a name, which is that of a file.
function repos.bad_name(name)
  if not re.test(name, [[^\w[\w.-]*$]]) then return "name", "want letters, digits, dots, hyphens and underscores, got " .. inspect(name) end
end

--- Returns what is wrong with a key that is wanted as text.
function repos.bad_key(want)
  if re.test(want.key or "", [[^\w+://]]) then
    return "key", ('want the key itself, in ASCII armor, got a URL (download the key, check its fingerprint and give key = fs.read "files/%s.asc")'):format(want.name)
  end
end

--- Writes the file of a repository, and runs the command that reads its index where the
--- machine runs. If that fails, the file is what it was, so that the next run tries again.
function repos.write(host, file, text, old, command)
  host.mkdir(path.dir(file))
  host.write(file, text, { mode = "0644" })
  if host.root ~= "/" or not command then return end
  local read, fault = pcall(host.run, command)
  if read then return end
  if old then host.write(file, old) else host.remove(file) end
  error(fault, 0)
end

repos.phrases = { create = "added the repository", update = "updated the repository", remove = "removed the repository" }

return repos
