-- ini: keeps one setting in a file of sections.
--
--   local ini = require "std.ini"
--   ini { "listen", path = "/etc/app.ini", section = "server", value = "0.0.0.0:80" }
--   ini { "debug off", path = "/etc/app.ini", key = "debug", ensure = "absent" }
--   ini { "tests", path = "/etc/app.ini", whole_section = true, ensure = "absent" }

local lines = require "std.lines"

-- The name of the section that a line begins, or nil.
local function header(l)
  local m = re.match(l, [[^\s*\[\s*(.*?)\s*\]\s*$]])
  return m and m[1]
end

-- The last line of the part that begins in line i, which has a place in the text.
local function finish(text, i, place)
  local list = lines.of(text)
  while true do
    local feed = text:find("\n", place, true)
    local bracket = feed and text:find("[", feed, true)
    if not bracket then return #list end
    i, place = i + str.count(text:sub(feed, bracket), "\n"), bracket
    if header(list[i]) then return i - 1 end
  end
end

-- Where a section stands in a text, from its header to its last line. It may stand there several times.
local function parts(text, section)
  local list, found = lines.of(text), {}
  if section == "" then
    local to = list[1] and header(list[1]) and 0 or finish(text, 1, 1)
    found[1] = { from = 1, to = math.min(to, #list) }
  end
  local at, places = lines.having(text, section == "" and "[" or section)
  for n, i in ipairs(at) do
    if header(list[i]) == section then found[#found + 1] = { from = i, to = finish(text, i, places[n]) } end
  end
  return found
end

-- The text without a section. Comments right above the next section belong to that.
local function without(text, section)
  local list, eol = lines.split(text)
  local found = parts(text, section)
  for n = #found, 1, -1 do
    local last = found[n].to
    while last < #list and re.test(list[last], [=[^\s*[#;]]=]) do last = last - 1 end
    list = tbl.concat(tbl.slice(list, 1, found[n].from - 1), tbl.slice(list, last + 1))
  end
  return #found > 0 and lines.join(list, eol) or text
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
    whole_section = { type = "boolean", default = false, doc = "Whether the whole section is removed, and not one setting of it. It is that of section or, if that is left out, of the name. It goes with ensure absent." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the section is to have the setting. A section stays when it is empty." },
  },
  phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

  validate = function(want)
    if want.whole_section and want.ensure == "present" then return "whole_section", "goes with ensure absent" end
    if want.whole_section and want.key then return "key", "goes without whole_section" end
    if want.ensure == "present" and not want.value then return "value is required unless ensure is absent" end
    if want.value and want.value:find("[\r\n]") then return "value", "want one line" end
  end,

  edit = function(want, text)
    if want.whole_section then return without(text, want.section or want.name) end
    local key, section = want.key or want.name, want.section or ""
    local setting = [[^(\s*]] .. re.escape(key) .. [[\s*[=:]\s*)(.*?)\s*$]]
    local list, eol = lines.of(text)
    local mine = parts(text, section)

    -- The lines that set the key, the last of which counts.
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
