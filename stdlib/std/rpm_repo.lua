-- The common definition of the types yum_repo and zypper_repo.

local repos = require "std.repos"

-- The fields of a repository file, and the properties of their values.
local fields = {
  { "name", "title" }, { "baseurl", "baseurl" }, { "mirrorlist", "mirrorlist" }, { "metalink", "metalink" },
  { "enabled", "enabled" }, { "gpgcheck", "gpgcheck" }, { "repo_gpgcheck", "repo_gpgcheck" }, { "gpgkey", "gpgkey" },
  { "priority", "priority" }, { "autorefresh", "autorefresh" }, { "exclude", "exclude" }, { "metadata_expire", "metadata_expire" },
}

--- Returns the type for a package manager. spec has its name, doc, commands, directory, further properties,
--- read(name), which returns the command that reads the index of a repository, and the paths touched by that command.
return function(spec)
  local function file(want) return spec.directory .. "/" .. want.name .. ".repo" end
  local properties = {
    name = { name = true, doc = "The ID of the repository, and the name of its file without a suffix.", example = "example" },
    title = { one_line = true, doc = "The display name of the repository. Default: the name." },
    baseurl = { type = "list", one_line = true, kind = "url", doc = "The URL of the repository. One of baseurl, mirrorlist and metalink is required unless ensure is absent." },
    mirrorlist = { one_line = true, kind = "url", doc = "The URL of a list of mirrors." }, metalink = { one_line = true, kind = "url", doc = "The URL of a metalink." },
    enabled = { type = "boolean", default = true, doc = "Whether the repository is enabled." },
    gpgcheck = { type = "boolean", default = true, doc = "Whether to check the signatures of packages." },
    repo_gpgcheck = { type = "boolean", doc = "Whether to check the signature of the repository metadata." },
    gpgkey = { type = "list", one_line = true, kind = "url", doc = "URLs of the signing keys, such as file:///etc/pki/rpm-gpg/RPM-GPG-KEY-example (see package_key)." },
    priority = { type = "integer", doc = "The priority: lower numbers come first. Default: 99." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the repository should exist." },
  }
  for name, p in pairs(spec.properties) do properties[name] = p end
  local function texts(want)
    local found = {}
    for _, f in ipairs(fields) do
      if properties[f[2]] then
        local value = want[f[2]]
        if type(value) == "boolean" then value = value and "1" or "0" end
        if type(value) == "table" then value = str.join(value, " ") end
        found[f[2]] = value and tostring(value)
      end
    end
    found.title = found.title or want.name
    return found
  end
  local function render(want)
    local list, found = { "# Kept by ccm.", "[" .. want.name .. "]" }, texts(want)
    for _, f in ipairs(fields) do
      if found[f[2]] then list[#list + 1] = f[1] .. "=" .. found[f[2]] end
    end
    return str.join(list, "\n") .. "\n"
  end
  return {
    name = spec.name, doc = spec.doc, properties = properties,
    phrases = repos.phrases, commands = spec.commands,

    validate = function(want)
      if repos.bad_name(want.name) then return repos.bad_name(want.name) end
      if want.ensure == "present" and not (want.mirrorlist or want.metalink) and #(want.baseurl or {}) == 0 then
        return "baseurl", "one of baseurl, mirrorlist and metalink is required unless ensure is absent"
      end
    end,

    status = function(want, host)
      local text = host.read(file(want))
      if not text then return { ensure = "absent" } end
      local have = { ensure = "present", text = text }
      for _, l in ipairs(str.lines(text)) do
        local key, value = l:match("^([%w_]+)%s*=%s*(.-)%s*$")
        for _, f in ipairs(fields) do
          local type = key == f[1] and properties[f[2]] and (properties[f[2]].type or "string")
          if type == "boolean" then have[f[2]] = value == "1"
          elseif type == "list" then have[f[2]] = str.fields(value)
          elseif type then have[f[2]] = type == "integer" and tonumber(value) or value end
        end
      end
      return have
    end,

    decide = function(want, have, compare)
      local d = compare()
      if want.ensure == "present" and #d.diff == 0 and have.text ~= render(want) then
        d.diff, d.actions = { { "title", "with other lines", texts(want).title } }, { { "update", repos.phrases.update } }
      end
      return d
    end,

    leaves = function(want)
      if want.ensure == "absent" then return { { path = file(want), kind = "absent" } }, "commands" end
      local left = { { path = file(want), kind = "file", content = render(want), mode = "0644" } }
      return tbl.concat(left, want.enabled and tbl.map(spec.touched, function(p) return { path = p } end) or {}), "commands"
    end,

    programs = function(action, want, _, host) return action ~= "remove" and want.enabled and host.root == "/" and { spec.read(want.name)[1] } or {} end,

    perform = function(action, want, have, host)
      if action == "remove" then return host.remove(file(want)) end
      repos.write(host, { { file(want), render(want), have.text } }, want.enabled and spec.read(want.name) or nil)
    end,
  }
end
