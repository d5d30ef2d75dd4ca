-- apt_repo: keeps a repository of apt, with its key, and reads its index.
--
--   std.apt_repo { "example", uris = "https://apt.example.org", suites = facts.os.codename, components = "main",
--                  key = fs.read "files/example.asc" }

local repos, sources = require "std.repos", require "std.apt_sources"

local function file(want) return "/etc/apt/sources.list.d/" .. want.name .. ".sources" end
local function key_file(want) return "/etc/apt/keyrings/" .. want.name .. ".asc" end

-- The fields of the file, and the properties of their values.
local fields = {
  { "Types", "types" }, { "URIs", "uris" }, { "Suites", "suites" }, { "Components", "components" },
  { "Architectures", "architectures" }, { "Signed-By", "signed_by" }, { "Trusted", "trusted" },
}

local function render(want)
  local list = { "# Kept by ccm." }
  for _, f in ipairs(fields) do
    local value = want[f[2]]
    if f[2] == "signed_by" and want.key then value = key_file(want) end
    if type(value) == "table" then value = str.join(value, " ") end
    if f[2] == "trusted" then value = value and "yes" or nil end
    if value then list[#list + 1] = f[1] .. ": " .. value end
  end
  return str.join(list, "\n") .. "\n"
end

return ccm.type {
  name = "apt_repo",
  doc = "Manages an apt repository in /etc/apt/sources.list.d with its key, and updates the package index after changes.",
  commands = { "apt-get" },
  properties = {
    name = { name = true, doc = "The name of the file, without a suffix.", example = "example" },
    types = { type = "list", enum = { "deb", "deb-src" }, doc = "The types of packages. Default: deb." },
    uris = { type = "list", one_line = true, kind = "url", doc = "The URL of the repository. Required unless ensure is absent." },
    suites = { type = "list", one_line = true, doc = "The suites, such as bookworm, or ./ for a flat repository. Required unless ensure is absent." },
    components = { type = "list", one_line = true, doc = "The components, such as main. Not for a suite that ends with a slash." },
    architectures = { type = "list", one_line = true, doc = "The architectures. Default: those of the machine." },
    key = { doc = "The signing key of the repository in ASCII armor, not its URL. Stored in /etc/apt/keyrings." },
    signed_by = { type = "path", doc = "The path of an existing key file." },
    trusted = { type = "boolean", default = false, doc = "Whether to trust the repository without signatures." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the repository should exist." },
  },
  phrases = repos.phrases,

  validate = function(want)
    if repos.bad_name(want.name) then return repos.bad_name(want.name) end
    if repos.bad_key(want) then return repos.bad_key(want) end
    if want.key and want.signed_by then return "signed_by", "cannot be used together with key" end
    for _, p in ipairs { "uris", "suites" } do
      if want.ensure == "present" and #(want[p] or {}) == 0 then return p, "is required unless ensure is absent" end
    end
    if #(want.components or {}) > 0 and tbl.any(want.suites or {}, function(s) return str.ends(s, "/") end) then
      return "components", "cannot be used with a suite that ends with a slash"
    end
    for _, p in ipairs { "uris", "suites", "components", "architectures" } do
      if tbl.any(want[p] or {}, function(v) return v == "" or v:find "%s" end) then return p, "expected words without blanks" end
    end
  end,

  status = function(want, host)
    local text = host.read(file(want))
    if want.ensure == "present" then sources.check(host, file(want), render(tbl.merge({ types = { "deb" } }, want))) end
    local key = host.read(key_file(want))
    if not text then return { ensure = "absent", key = key } end
    local have = { ensure = "present", text = text, key = key or "", trusted = false }
    for _, l in ipairs(str.lines(text)) do
      for _, f in ipairs(fields) do
        if str.starts(l, f[1] .. ":") then
          local value = str.trim(str.strip_prefix(l, f[1] .. ":"))
          have[f[2]] = f[2] == "signed_by" and value or f[2] == "trusted" and value == "yes" or str.fields(value)
        end
      end
    end
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    want.types = want.types or { "deb" }
    if want.ensure == "present" and #d.diff == 0 and have.text ~= render(want) then
      d.diff, d.actions = { { "uris", "with other fields", str.join(want.uris, " ") } }, { { "update", repos.phrases.update } }
    end
    return d
  end,

  leaves = function(want)
    if want.ensure == "absent" then return { { path = file(want), kind = "absent" }, { path = key_file(want), kind = "absent" } }, "commands" end
    want.types = want.types or { "deb" }
    local list = {
      { path = file(want), kind = "file", content = render(want), mode = "0644" },
      { path = "/var/lib/apt/lists" }, { path = "/var/cache/apt" },
    }
    if want.key then list[4] = { path = key_file(want), kind = "file", content = want.key, mode = "0644" } end
    return list, "commands"
  end,

  programs = function(action, _, _, host) return action ~= "remove" and host.root == "/" and { "apt-get" } or {} end,

  perform = function(action, want, have, host)
    if action == "remove" then
      host.remove(file(want))
      return host.remove(key_file(want))
    end
    want.types = want.types or { "deb" }
    local files = { { file(want), render(want), have.text } }
    if want.key then
      local old = have.key ~= "" and have.key or nil
      table.insert(files, 1, { key_file(want), want.key, old })
    end
    repos.write(host, files, {
      "apt-get", "-q", "update", "-o", "Dir::Etc::SourceList=" .. file(want), "-o", "Dir::Etc::SourceParts=-",
      "-o", "APT::Get::List-Cleanup=0", "-o", "APT::Update::Error-Mode=any",
    }) -- only this repository is read
  end,
}
