-- ini: keeps one setting in a file of sections.
--
--   local ini = require "std.ini"
--   ini { "listen", path = "/etc/app.ini", section = "server", value = "0.0.0.0:80" }
--   ini { "debug off", path = "/etc/app.ini", key = "debug", ensure = "absent" }

local lines = require "std.lines"

-- The name of the section that a line begins, or nil.
local function header(l)
  local m = re.match(l, [[^\s*\[\s*(.*?)\s*\]\s*$]])
  return m and m[1]
end

return ccm.type {
  name = "ini",
  doc = "Keeps one setting in a file that has sections in brackets.",
  properties = {
    name = { name = true, doc = "The key or, if key is given, any name.", example = "listen" },
    path = { type = "path", required = true, doc = "The file.", example = "/etc/app.ini" },
    section = { doc = "The section. Left out, it is what stands before the first one." },
    key = { doc = "The key. Left out, it is the name." },
    value = { doc = "The value, with whatever else stands behind the equals sign. It is required unless ensure is absent." },
    separator = { default = " = ", doc = "What stands between a key and its value in a new line." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the section is to have the setting. A section stays when it is empty." },
  },
  phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

  validate = function(want)
    if want.ensure == "present" and not want.value then return "value is required unless ensure is absent" end
    if want.value and want.value:find("[\r\n]") then return "value", "want one line" end
  end,

  edit = function(want, text)
    local list, eol = lines.split(text)
    local key, section = want.key or want.name, want.section or ""
    local setting = [[^(\s*]] .. re.escape(key) .. [[\s*[=:]\s*)(.*?)\s*$]]

    -- The lines that set the key, the last of which counts, and the end of the
    -- section: its last line that is not blank.
    local found, last = {}, section == "" and 0 or nil
    local here = ""
    for i, l in ipairs(list) do
      here = header(l) or here
      if here == section then
        if not str.is_blank(l) then last = i end
        if re.test(l, setting) then found[#found + 1] = i end
      end
    end

    if want.ensure == "absent" then
      if #found == 0 then return text end
      for i = #found, 1, -1 do table.remove(list, found[i]) end
      return lines.join(list, eol)
    end
    if #found > 0 then
      local at = found[#found]
      local m = re.match(list[at], setting)
      if m[2] == want.value then return text end
      list[at] = m[1] .. want.value
      return lines.join(list, eol), { ensure = "present", value = m[2] }
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
