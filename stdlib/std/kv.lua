-- kv: keeps one setting in a file of keys and values.
--
--   std.kv { "PermitRootLogin", path = "/etc/ssh/sshd_config", value = "no" }
--   std.kv { "two ports", path = "/etc/ssh/sshd_config", key = "Port", values = { 22, 2222 } }
--   std.kv { "swap", path = "/etc/sysctl.conf", key = "vm.swappiness", value = 10, separator = " = " }

local entries, formats = require "std.entries", require "std.formats"
local includes, lines = require "std.includes", require "std.lines"

-- Returns a warning if the line is below one that seems to begin a block, in a text of an unknown format.
local function warning(want, text, line)
  if want.ends_at or not (text:find("[", 1, true) or text:find("Match ", 1, true) or text:find("Host ", 1, true)) then return end
  local at = lines.matching(text, [=[^\s*(?:\[[^\]]+\]|(?:Match|Host)\s+\S.*)\s*$]=], 1)[1]
  if not at or at >= line then return end
  return ("%s is set only in line %d of %s, below line %d: %s (set ends_at to where blocks begin, or use ini for files with sections)"):format(
    want.key or want.name, line, want.path, at, str.trim(lines.of(text)[at]))
end

return ccm.type {
  name = "kv",
  doc = "Manages one setting in a file with a key and its value on each line, such as sshd_config.",
  properties = {
    name = { name = true, one_line = true, doc = "The key or, if key is given, any name.", example = "PermitRootLogin" },
    path = { type = "path", required = true, doc = "The file. In ssh files, keys are case-insensitive, and only the part above the first Match or Host is edited.", example = "/etc/ssh/sshd_config" },
    key = { one_line = true, doc = "The key. Default: the name." },
    value = { one_line = true, scalar = true, doc = "The value. Required unless ensure is absent, or values are given. Without among, the file has the key once.", example = "no" },
    values = entries.properties.values,
    among = entries.properties.among,
    separator = { one_line = true, default = " ", doc = "The text between key and value in a new line. Blanks around it do not matter in existing lines." },
    comment = { one_line = true, default = "#", doc = "The start of a comment. A new line is added after the commented-out setting." },
    continuation = entries.properties.continuation,
    ends_at = { type = "regexp", doc = "A regular expression (RE2). Lines after the first match are not changed. In ssh files the default is the first Match or Host." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the setting should be in the file." },
  },
  phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

  validate = function(want)
    local key = want.key or want.name
    if key:find("%s") then return want.key and "key" or "name", "expected a key without blanks, got " .. inspect(key) end
    local format = formats.kv(want)
    if format.sign and str.trim(want.separator) ~= format.sign then return "separator", ("expected %s between key and value, as readers of %s do"):format(format.sign, want.path) end
    return entries.mistake(want, format)
  end,

  part = { "key" },
  edit = lines.keeping(function(want, text, host)
    local key, format, sign = want.key or want.name, formats.kv(want), re.escape(str.trim(want.separator))
    local between = format.equals and [[(?:\s*=\s*|\s+)]] or sign == "" and [[\s+]] or [[\s*]] .. sign .. [[\s*]]
    local setting = [[^\s*(]] .. (format.exports and [[(?:export\s+)?]] or "") .. [[)]] .. format.pattern(key) .. [[(?:]] .. between .. [[(.*?))?\s*$]]
    local hidden = [[^\s*]] .. re.escape(want.comment) .. [[\s*]] .. format.pattern(key) .. [[(]] .. between .. [[|\s*$)]]

    -- Only lines before the one that matches ends_at count. Most edits need not split the text.
    local ends_at = want.ends_at or format.block
    local stop = ends_at and lines.matching(text, ends_at, 1)[1]
    local found, commented = {}, nil
    for _, i in ipairs(format.having(text, key)) do
      local list = lines.of(text)
      local line = (not stop or i < stop) and list[i]
      local m = line and re.match(line, setting)
      if m and not entries.continues(list, i, 1, format.continuation) then
        found[#found + 1] = entries.at(list, i, stop and stop - 1 or #list, m[2] or "", format.continuation, " ")
        found[#found].head = m[1]
        if between == [[\s+]] and str.starts(m[2] or "", "=") then error(("%s: line %d has an equals sign between key and value (set separator = \" = \")"):format(want.path, i), 0) end
      elseif line and re.test(line, hidden) then
        commented = i
      end
    end

    local function write(value, entry) return (entry and entry.head or "") .. key .. (value == "" and want.separator:gsub("%s+$", "") or want.separator) .. value end
    local mine, values = entries.wanted(want, found, want.values or { want.value })
    local first = format.includes and want.value and want.ensure == "present" and not want.among
    local function earlier(position) return first and includes.warning(host, want, key, format, (lines.of(text)), position) or nil end
    if #found == 0 and #values == 1 and not commented and not stop then
      return lines.with(text, write(values[1])), nil, nil, nil, earlier(math.huge) or format.misread(key, values)
    end
    if #found == 0 and #values == 0 then return text end
    local list = lines.of(text)
    local at = commented or stop and stop - 1 or #list
    while list[at + 1] and (entries.continues(list, at + 1, 1, format.continuation) or format.continuation == "indent" and list[at + 1]:match("^%s+%S")) do at = at + 1 end
    local below = #found > 0 and not format.block and warning(want, text, found[1].from) or earlier(#found > 0 and found[1].from or at + 1)
    local now = entries.replace(text, found, mine, values, write, at)
    if now == text then return text, nil, nil, nil, below end
    local had = tbl.map(mine, function(e) return e.value end)
    local state = want.values and { ensure = "present", values = had } or { ensure = "present", value = str.join(had, ", ") }
    return now, #mine > 0 and #values > 0 and state or nil, nil, nil, below or format.misread(key, values)
  end),
}
