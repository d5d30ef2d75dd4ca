-- selinux_context: keeps the SELinux type of files whose paths match a pattern.
--
--   std.selinux_context { "/srv/www(/.*)?", type = "httpd_sys_content_t" }

local selinux = require "std.selinux"

-- The names of the kinds of files for semanage, and in file_contexts(5).
local kinds = {
  any = { "a", "" }, file = { "f", "--" }, directory = { "d", "-d" }, link = { "l", "-l" },
  socket = { "s", "-s" }, pipe = { "p", "-p" }, block_device = { "b", "-b" }, character_device = { "c", "-c" },
}

-- The type of the pattern in a file of contexts, nil if it is not there.
local function type_in(text, want)
  local found
  for _, line in ipairs(str.lines(text or "")) do
    local fields = re.split(str.trim(line), [[[ \t]+]])
    local kind = #fields == 3 and fields[2] or ""
    if fields[1] == want.name and kind == kinds[want.kind][2] then
      found = fields[#fields]:match "^[^:]+:[^:]+:([^:]+)" or fields[#fields]
    end
  end
  return found
end

-- The directory or file below which all matches of the pattern are.
local function stem(pattern)
  local fixed = (re.match(pattern, [[^((?:[^\\.^$*+?()\[\]{}|]|\\.)*)]]))[1]
  local rest = pattern:sub(#fixed + 1)
  fixed = re.replace(fixed, [[\\(.)]], "$1")
  if rest ~= "" and not re.test(rest, [[^(\(/|/)]]) then fixed = path.dir(fixed) end
  return #fixed > 1 and str.ends(fixed, "/") and fixed:sub(1, -2) or fixed
end

-- Whether files are relabelled. Without SELinux in the kernel they have no types. All of / would take too long.
local function relabels(want, host)
  local top = stem(want.name)
  return want.restore and top ~= "/" and host.root == "/" and host.stat "/sys/fs/selinux/enforce" ~= nil and host.stat(top) ~= nil
end

local function file(policy, name) return "/etc/selinux/" .. policy .. "/contexts/files/" .. name end

return ccm.type {
  name = "selinux_context",
  doc = "Manages the SELinux type of the files that match a pattern, as a local policy change.",
  commands = { "semanage", "restorecon" },
  properties = {
    name = { name = true, doc = "The pattern: a regular expression for whole paths.", example = "/srv/www(/.*)?" },
    type = { doc = "The SELinux type of the files. Required unless ensure is absent.", example = "httpd_sys_content_t" },
    kind = { enum = tbl.sort(tbl.keys(kinds)), default = "any", doc = "The kind of files that the pattern applies to." },
    restore = { type = "boolean", default = true, doc = "Whether to relabel existing files with restorecon when the pattern changes. Later changes of labels are not checked." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the local change should exist. Patterns of the policy itself are kept." },
  },
  phrases = { create = "added the pattern", update = "updated the pattern", remove = "removed the pattern" },

  validate = function(want)
    if not re.test(want.name, [[^/[^\s]*$]]) then return "name", "expected a pattern of absolute paths without spaces, such as /srv/www(/.*)?, got " .. inspect(want.name) end
    if not want.type and want.ensure == "present" then return "type", "is required unless ensure is absent" end
    if want.type and not re.test(want.type, [[^[A-Za-z]\w*$]]) then return "type", "expected a type such as httpd_sys_content_t, got " .. inspect(want.type) end
  end,

  status = function(want, host)
    local policy = selinux.policy(host)
    local text = host.read(file(policy, "file_contexts.local"))
    local found = type_in(text, want)
    return { ensure = found and "present" or "absent", type = found, policy = policy, text = text }
  end,

  leaves = function(want, have)
    local field = kinds[want.kind][2]
    local start = field == "" and want.name .. "    " or want.name .. " " .. field .. " "
    local line = want.ensure == "present" and start .. "system_u:object_r:" .. want.type .. ":s0" or nil
    local list = selinux.leaves(have, have and file(have.policy, "file_contexts.local"), "0644", re.escape(start), line)
    if have then list[#list + 1] = { path = file(have.policy, "file_contexts.local.bin") } end
    return list, "commands"
  end,

  programs = function(_, want, _, host)
    return tbl.concat({ "semanage" }, relabels(want, host) and { "restorecon" } or {})
  end,

  recreate = require("std.recreate").selinux_context,

  perform = function(action, want, have, host)
    local verb = "-a"
    if action == "remove" then
      verb = "-d"
    elseif action == "update" or type_in(host.read(file(have.policy, "file_contexts")), want) then
      verb = "-m" -- also for what the policy has already, which semanage does not add
    end
    local type = action ~= "remove" and { "-t", want.type } or {}
    selinux.run(host, { "semanage", "fcontext", verb, "-f", kinds[want.kind][1] }, tbl.concat(type, { want.name }))
    if relabels(want, host) then host.run { "restorecon", "-R", stem(want.name) } end
  end,
}
