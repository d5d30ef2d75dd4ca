-- ini: keeps one setting in a file of sections.
--
--   local ini = require "std.ini"
--   ini { "listen", path = "/etc/app.ini", section = "server", value = "0.0.0.0:80" }
--   ini { "debug off", path = "/etc/app.ini", key = "debug", ensure = "absent" }
--   ini { "tests", path = "/etc/app.ini", whole_section = true, ensure = "absent" }

local lines, sections = require "std.lines", require "std.sections"

return ccm.type {
  name = "ini",
  doc = "Keeps one setting in a file that has sections in brackets.",
  properties = {
    name = { name = true, one_line = true, doc = "The key or, if key is given, any name.", example = "listen" },
    path = { type = "path", required = true, doc = "The file.", example = "/etc/app.ini" },
    section = { one_line = true, doc = "The section. Left out, it is what stands before the first one." },
    key = { one_line = true, doc = "The key. Left out, it is the name." },
    value = { one_line = true, doc = "The value, with whatever else stands behind the equals sign. It is required unless ensure is absent." },
    separator = { one_line = true, default = " = ", doc = "What stands between a key and its value in a new line." },
    whole_section = { type = "boolean", default = false, doc = "Whether the whole section is removed, and not one setting of it. It is that of section or, if that is left out, of the name. It goes with ensure absent." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the section is to have the setting. A section stays when it is empty." },
  },
  phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

  validate = function(want)
    if want.whole_section and want.ensure == "present" then return "whole_section", "goes with ensure absent" end
    if want.whole_section and want.key then return "key", "goes without whole_section" end
    local key, section = want.key or want.name, want.section or ""
    if section:find("[%[%]]") then return "section", "want a section without brackets, got " .. inspect(section) end
    if not want.whole_section and re.test(key, [=[^\s|\s$|^[\[#;]|=]=]) then
      return want.key and "key" or "name", "want a key without an equals sign, brackets before it or blanks around it, got " .. inspect(key)
    end
    if want.ensure == "present" and not want.value then return "value is required unless ensure is absent" end
  end,

  edit = function(want, text)
    if want.whole_section then return sections.without(text, want.section or want.name), nil, nil, "removed the section" end
    local key, section = want.key or want.name, want.section or ""
    local setting = [[^(\s*]] .. re.escape(key) .. [[\s*[=:]\s*)(.*?)\s*$]]
    local list, eol = lines.of(text)
    local mine = sections.parts(text, section)

    -- The lines that set the key; the last one counts.
    local found = {}
    for _, part in ipairs(mine) do
      for _, n in ipairs(lines.having(str.join(tbl.slice(list, part.from, part.to), "\n"), key)) do
        local i = part.from + n - 1
        if re.test(list[i], setting) then found[#found + 1] = i end
      end
    end

    if want.ensure == "absent" then
      if #found == 0 then return text end
      list = lines.split(text)
      for i = #found, 1, -1 do table.remove(list, found[i]) end
      return lines.join(list, eol)
    end
    if #found > 0 then
      local at = found[#found]
      local m = re.match(list[at], setting)
      if m[2] == want.value then return text end
      list = lines.split(text)
      list[at] = m[1] .. want.value
      return lines.join(list, eol), { ensure = "present", value = m[2] }
    end
    list = lines.split(text)
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
    local new = key .. want.separator .. want.value
    if last then
      table.insert(list, last + 1, new)
    else
      list = tbl.concat(list, #list > 0 and { "" } or {}, { "[" .. section .. "]", new })
    end
    return lines.join(list, eol)
  end,
}
