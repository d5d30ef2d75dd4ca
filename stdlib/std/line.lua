-- line: keeps one line in a text file.
--
--   std.line { "/etc/hosts.allow", line = "sshd: 192.0.2.0/24", create = { mode = "0644" } }
--   std.line { "root may not log in", path = "/etc/ssh/sshd_config", insert_before = "^Match ",
--              line = "PermitRootLogin no", match = [[^#?\s*PermitRootLogin\b]] }
--   std.line { "quiet", path = "/etc/default/grub",
--              line = 'GRUB_CMDLINE_LINUX="${1} quiet"', match = [[^GRUB_CMDLINE_LINUX="(.*?)( quiet)?"$]] }

local captures, lines = require "std.captures", require "std.lines"

-- The text with the line and, if lines were replaced, the old lines and the new ones.
local function edited(want, text)
  local fixed = not want.match and want.line or not captures.highest(want.line) and captures.filled(want.line, {})
  local there = fixed and lines.position(text, fixed)
  if there and not want.all then return text end
  if not (want.match or want.insert_before or want.insert_after) then return lines.with(text, fixed) end
  local matched = want.match and lines.matching(text, want.match) or {}
  local old, new_lines, changes = {}, {}, {}
  for n = want.all and 1 or math.max(#matched, 1), #matched do
    local line = lines.of(text)[matched[n]]
    local new = fixed or captures.filled(want.line, re.match(line, want.match))
    if not want.all and lines.position(text, new) then return text end
    if new ~= line then
      old[#old + 1], new_lines[#new_lines + 1] = line, new
      changes[#changes + 1] = { from = matched[n], to = matched[n], lines = { new } }
    end
  end
  if #old > 0 then
    local found = { ensure = "present", line = str.join(old, "\n") }
    return lines.changed(text, changes), found, { line = str.join(tbl.unique(new_lines), "\n") }
  end
  if #matched > 0 or there or not fixed then return text end
  local first = want.insert_before and lines.matching(text, want.insert_before, 1)[1]
  local after = want.insert_after and lines.matching(text, want.insert_after)
  return lines.with(text, fixed, first and first - 1 or after and after[#after])
end

return ccm.type {
  name = "line",
  doc = "Manages one line in a text file.",
  properties = {
    name = { name = true, doc = "The path of the file or, if path is given, any name.", example = "/etc/hosts.allow" },
    path = { type = "path", doc = "The file. Default: the name." },
    line = { one_line = true, doc = "The whole line. Required unless ensure is absent and match is given. With match, ${1} is its first group, ${2} the second, and $$ next to them is a dollar sign. A line with groups is not added if no line matches." },
    match = { type = "regexp", doc = "A regular expression (RE2). If the line is missing, it replaces the last matching line. With ensure absent, all matching lines are removed." },
    all = { type = "boolean", doc = "Whether to replace all matching lines instead of the last one. Requires match." },
    insert_before = { type = "regexp", doc = "A regular expression. A new line is added before the first matching line, or at the end. (The property before is for the order of resources.)" },
    insert_after = { type = "regexp", doc = "A regular expression. A new line is added after the last matching line, or at the end." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the line should be in the file." },
  },
  phrases = { create = "added the line", update = "replaced the line", remove = "removed the line" },

  validate = function(want)
    if not want.line and not (want.ensure == "absent" and want.match) then return "line is required" end
    if want.all and not want.match then return "all", "requires match" end
    if want.insert_before and want.insert_after then return "insert_before", "cannot be used with insert_after" end
    if not want.match or want.ensure == "absent" then return end
    local n = captures.highest(want.line)
    if not n then return end
    local most = captures.count(want.match)
    if n > most then return "line", ("match has %d groups, got ${%d}"):format(most, n) end
    for _, key in ipairs { "create", "insert_before", "insert_after" } do
      if want[key] then return key, "a line with ${" .. n .. "} can only replace a line, not be added" end
    end
  end,

  part = { "line" },
  edit = lines.keeping(function(want, text)
    if want.ensure == "present" then
      local now, found, shown = edited(want, text)
      if now ~= text and edited(want, now) ~= now then
        error(want.path .. ": the next run would replace a line again, because match also matches the new line or other lines (replace them all with all = true)", 0)
      end
      return now, found, shown
    end
    local function without(i) return { from = i, to = i, lines = {} } end
    local at = want.line and lines.position(text, want.line)
    while at do
      text = lines.changed(text, { without(at) })
      at = lines.position(text, want.line)
    end
    return want.match and lines.changed(text, tbl.map(lines.matching(text, want.match), without)) or text
  end),
}
