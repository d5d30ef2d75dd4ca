-- ini: keeps one setting in a file of sections.
--
--   std.ini { "listen", path = "/etc/app.ini", section = "server", value = "0.0.0.0:80" }
--   std.ini { "debug off", path = "/etc/app.ini", key = "debug", ensure = "absent" }
--   std.ini { "skip-networking", path = "/etc/my.cnf", section = "mysqld", no_value = true }
--   std.ini { "Environment", path = "/etc/systemd/system/a.service.d/b.conf", section = "Service",
--             values = { "A=1", "B=2" } }
--   std.ini { "tests", path = "/etc/app.ini", whole_section = true, ensure = "absent" }
--   std.ini { "AllowedIPs", path = "/etc/wireguard/wg0.conf", section = "Peer",
--             where = { PublicKey = "6Yk=" }, value = "10.0.0.2/32" }

local entries, formats, includes = require "std.entries", require "std.formats", require "std.includes"
local lines, sections = require "std.lines", require "std.sections"

return ccm.type {
  name = "ini",
  doc = "Manages one setting in an INI file.",
  properties = {
    name = { name = true, one_line = true, doc = "The key or, if key is given, any name.", example = "listen" },
    path = { type = "path", required = true, doc = "The file.", example = "/etc/app.ini" },
    section = { one_line = true, doc = "The section. Default: the part before the first section." },
    where = { type = "map", one_line = true, scalar = true, doc = "Selects one of several sections of that name by these settings, or adds a section with them. Required in files with repeated sections, such as [Peer] of WireGuard." },
    key = { one_line = true, doc = "The key. Default: the name. Case counts, except in files whose readers are known to ignore it (git, Samba, rsync, WireGuard). In files of an unknown format, adding a key that differs only in case is a warning." },
    value = { one_line = true, scalar = true, doc = "The value: everything after the equals sign. Required unless ensure is absent, or values or no_value are given. Of several lines with the key, the last one is used." },
    no_value = { type = "boolean", default = false, doc = "Whether the key is written without an equals sign and value, such as skip-networking in my.cnf." },
    values = entries.properties.values,
    among = entries.properties.among,
    separator = { one_line = true, default = " = ", doc = "The text between key and value in a new line." },
    continuation = entries.properties.continuation,
    whole_section = { type = "boolean", default = false, doc = "Whether to remove the whole section instead of one setting: the one in section or, if unset, in the name. Requires ensure absent." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the setting should be in the section. Empty sections are kept." },
  },
  phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

  validate = function(want)
    if want.whole_section and want.ensure == "present" then return "whole_section", "requires ensure absent" end
    if want.whole_section and want.key then return "key", "cannot be used with whole_section" end
    local key, section = want.key or want.name, want.section or ""
    if section:find("[%[%]]") then return "section", "expected a section without brackets, got " .. inspect(section) end
    if not want.whole_section and re.test(key, [=[^\s|\s$|^[\[#;]|=]=]) then
      return want.key and "key" or "name", "expected a key without an equals sign, leading brackets or surrounding blanks, got " .. inspect(key)
    end
    if want.where and section == "" and not want.whole_section then return "where", "requires section" end
    for name, value in tbl.pairs(want.where or {}) do
      if re.test(name, [=[^\s|\s$|^[\[#;]|=|^$]=]) or value == "" then return "where", "expected keys with their values, got " .. inspect(want.where) end
      if name == key and not want.whole_section then return "where", "cannot contain the key itself, " .. name end
    end
    if want.no_value and (want.value or want.values) then return "no_value", "cannot be used with value and values" end
    local format = formats.ini(want)
    if want.ensure == "present" and format.keys and not re.test(key, format.keys) then return want.key and "key" or "name", "expected a key that the readers of the file accept, got " .. inspect(key) end
    if not want.no_value then return entries.mistake(want, format) end
  end,

  part = { "whole_section", "section", "where", "key" },
  edit = lines.keeping(function(want, text, host)
    local format = formats.ini(want)
    if want.whole_section then return sections.without(text, want.section or want.name, want.where, format), nil, nil, "removed the section" end
    local key, section = want.key or want.name, want.section or ""
    local setting = [[^(\s*]] .. format.pattern(key) .. [[\s*]] .. format.sign .. [[\s*)(.*?)\s*$]]
    local bare = [[^\s*]] .. format.pattern(key) .. [[\s*(?:[#;].*)?$]]
    local glue = format.continuation == "indent" and "\n" or " "
    local list = lines.of(text)
    local mine = sections.chosen(text, section, want.where, format)

    local found, warning = {}, nil
    for _, part in ipairs(mine) do
      local first = section == "" and part.from or part.from + 1
      for _, n in ipairs(format.having(text:sub(part.at, part.stop), key)) do
        local i = part.from + n - 1
        local m = re.match(list[i], setting)
        if (m or re.test(list[i], bare)) and not entries.continues(list, i, first, format.continuation) then
          found[#found + 1] = entries.at(list, i, part.to, m and m[2], format.continuation, glue)
          found[#found].head = m and m[1]
        elseif format.unknown_case and i >= first then
          warning = entries.other_case(want.path, key, list[i]) or warning
        end
      end
    end

    if #found > 0 then warning = nil end -- the file has both
    warning = warning or format.flat and includes.below(want, key, list, mine, setting) or includes.overridden(host, want, key)

    -- The end of the section: its last line that is not blank.
    local last = section == "" and 0 or nil
    for _, part in ipairs(mine) do
      for i = part.to, part.from, -1 do
        if not str.is_blank(list[i]) then
          last = i
          break
        end
      end
    end
    local function write(value, entry)
      if not value then return key end
      local head = entry and entry.head or key .. want.separator
      return head .. (head:find("%s[=:]$") and " " or "") .. value
    end
    local about, values = entries.wanted(want, found, want.no_value and { false } or want.values or { want.value }, true, format.resets)
    local misread = format.misread(key, values)
    if not last then
      if #values == 0 then return text, nil, nil, nil, warning end
      local added = tbl.concat(text ~= "" and { "" } or {}, { "[" .. section .. "]" })
      for name, value in tbl.pairs(want.where or {}) do added[#added + 1] = name .. want.separator .. value end
      return lines.with(text, tbl.concat(added, tbl.map(values, function(v) return write(v) end))), nil, nil, nil, warning or misread
    end
    local now = entries.replace(text, found, about, values, write, last)
    if now == text then return text, nil, nil, nil, warning end
    if #about == 0 or #values == 0 then return now, nil, nil, nil, warning or misread end
    local state = { ensure = "present", value = about[1].value or nil }
    if want.no_value or not about[1].value then state.no_value = not about[1].value end
    if want.values then state = { ensure = "present", values = tbl.map(about, function(e) return e.value or "" end) } end
    return now, state, nil, nil, warning or misread
  end),
}
