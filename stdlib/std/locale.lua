-- locale: keeps a locale generated, and makes it the system's.
--
--   std.locale { "de_DE.UTF-8", default = true }
--   std.locale { "en_US.UTF-8" }

local lines = require "std.lines"

local generated, supported = "/etc/locale.gen", "/usr/share/i18n/SUPPORTED"

-- A name in the form of locale -a: de_DE.UTF-8 is de_DE.utf8 there.
local function listed(name)
  return (name:gsub("%.[^@]*", function(charset) return "." .. charset:lower():gsub("[^%w]", "") end))
end

-- The line for locale.gen: the name and its character set.
local function line_of(name, host)
  for _, file in ipairs { supported, generated } do
    local m = re.match(host.read(file) or "", [[(?m)^[# ]*(]] .. re.escape(name) .. [[ +[\w-]+)\s*$]])
    if m then return str.join(str.fields(m[1]), " ") end
  end
end

-- The text of locale.gen with the line active or commented out, and whether it was active.
local function edited(want, line, text)
  local list, eol = lines.split(text)
  local found, at = false, nil
  for i, l in ipairs(list) do
    local mine = line and str.join(str.fields((l:gsub("^#", ""))), " ") == line
    local active = mine and not str.starts(l, "#")
    found = found or active
    at = at or mine and i or nil
    if active and want.ensure == "absent" then list[i] = "# " .. l end
  end
  if want.ensure == "absent" or found or not line then return lines.join(list, eol), found end
  list[at or #list + 1] = line
  return lines.join(list, eol), found
end

-- The file with the locale of the system: the one that sets it, or that of Debian or of other systems.
local function settings(host)
  if host.stat "/etc/default/locale" or host.stat "/etc/debian_version" and not host.stat "/etc/locale.conf" then return "/etc/default/locale" end
  return "/etc/locale.conf"
end

-- The text of that file with LANG, or without it.
local function with_lang(text, name, on)
  local list, eol = lines.split(text)
  local kept = tbl.filter(list, function(l) return not re.test(l, [[^\s*(export\s+)?LANG=]]) end)
  if on then kept[#kept + 1] = "LANG=" .. name end
  return lines.join(kept, eol)
end

-- Whether LANG must change. If this locale is not to be the system's, any other one is right.
local function sets(want, have) return want.default ~= nil and want.default ~= (have.default or false) end

return ccm.type {
  name = "locale",
  doc = "Generates a locale with locale-gen (Debian, Arch), and sets it as the system locale.",
  commands = { "locale", "locale-gen" },
  properties = {
    name = { name = true, doc = "The name of the locale, as in /usr/share/i18n/SUPPORTED.", example = "de_DE.UTF-8" },
    default = { type = "boolean", doc = "Whether it is the system LANG, in /etc/default/locale or /etc/locale.conf. New sessions use it. Not managed if unset." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the locale should exist." },
  },
  phrases = { create = "generated the locale", update = "updated the locale", remove = "removed the locale" },

  validate = function(want)
    if not re.test(want.name, [[^[A-Za-z_]+(\.[\w-]+)?(@\w+)?$]]) then return "name", "expected a locale such as de_DE.UTF-8, got " .. inspect(want.name) end
    if want.default and want.ensure == "absent" then return "default", "cannot be used with ensure absent" end
  end,

  status = function(want, host)
    local line, text, file = line_of(want.name, host), host.read(generated), settings(host)
    local have = { text = text, line = line, file = file, lang = host.read(file) or "" }
    local _, found = edited(want, line, text or "")
    -- A machine that is only a directory runs no command.
    local there = found
    if host.root == "/" then there = tbl.contains(str.lines((host.query { "locale", "-a" })), listed(want.name)) end
    if want.ensure == "present" and not there and not line then error(("no such locale %s in %s (install the package locales; other systems have packages such as glibc-langpack-de)"):format(want.name, supported), 0) end
    -- A locale that is not in locale.gen disappears when another one is generated, unless a package has
    -- it.
    local is = there and (found or not line)
    if want.ensure == "absent" then is = there or found end
    have.ensure = is and "present" or "absent"
    local is_default = tbl.contains(tbl.map(str.lines(have.lang), function(l) return re.replace(l, [[^\s*(export\s+)?LANG="?([^"]*)"?\s*$]], function(m) return m[2] end) end), want.name)
    if want.default ~= nil or is_default then have.default = is_default end
    return have
  end,

  leaves = function(want, have)
    local list = { { path = generated }, { path = "/usr/lib/locale" } }
    if have and have.ensure ~= want.ensure then list[1] = { path = generated, kind = "file", content = edited(want, have.line, have.text or "") } end
    if not have then return tbl.concat(list, { { path = "/etc/default/locale" }, { path = "/etc/locale.conf" } }), "commands" end
    if sets(want, have) then list[3] = { path = have.file, kind = "file", content = with_lang(have.lang, want.name, want.default) } end
    return list, "commands"
  end,

  programs = function(action, _, _, host) return action ~= "update" and host.root == "/" and { "locale-gen" } or {} end,

  recreate = require("std.recreate").locale,

  perform = function(action, want, have, host)
    if action ~= "update" then
      host.write(generated, (edited(want, have.line, have.text or "")))
      if host.root == "/" then host.run { "locale-gen" } end
    end
    if sets(want, have) then host.write(have.file, with_lang(have.lang, want.name, want.default)) end
  end,
}
