-- replace: replaces all matches of a regular expression in a text file.
--
--   std.replace { "old host", path = "/etc/app.conf", match = [[\bold\.example\.org\b]],
--                 replacement = "new.example.org" }
--   std.replace { "workers", path = "/etc/app.conf", match = [[^(workers\s*=\s*)\d+$]], replacement = "${1}8" }

local captures, lines = require "std.captures", require "std.lines"

-- The text after the replacement, the matches that changed, and the replacement of the first one.
local function replaced(want, text)
  local old, first = {}, nil
  local now = re.replace(text, "(?m)" .. want.match, function(m)
    local new = captures.highest(want.replacement) and captures.filled(want.replacement, m) or want.replacement
    if new ~= m[0] then
      table.insert(old, m[0])
      first = first or new
    end
    return new
  end)
  return now, old, first
end

return ccm.type {
  name = "replace",
  doc = "Replaces all matches of a regular expression in a text file. Does nothing without a match.",
  properties = {
    name = { name = true, doc = "The path of the file or, if path is given, any name.", example = "/etc/app.conf" },
    path = { type = "path", doc = "The file. Default: the name." },
    match = { type = "regexp", required = true, doc = "A regular expression (RE2). ^ and $ match at the start and end of lines; with (?s) a dot also matches line ends. In CR LF files, \\n matches that line end, unless the pattern contains \\r." },
    replacement = { required = true, doc = "The replacement of each match; may be empty. ${1} is the first group, ${2} the second, and $$ next to them is a dollar sign. A second run must not find a match: otherwise the resource fails without changing the file." },
    validate = lines.validate,
    ensure = { enum = { "present" }, default = "present", doc = "Always present." },
  },
  phrases = { update = "replaced the text" },

  validate = function(want)
    if re.test("", want.match) then return "match", "expected a pattern that does not match an empty string, got " .. inspect(want.match) end
    local n, most = captures.highest(want.replacement), captures.count(want.match)
    if n and n > most then return "replacement", ("match has %d groups, got ${%d}"):format(most, n) end
  end,

  edit = function(want, whole)
    -- In a file of CR LF a line ends before the CR, unless the pattern has one.
    local text, eol = whole, "\n"
    if lines.ending(whole) == "\r\n" and not re.test(want.match, [=[\r|\\r|\\x0[dD]]=]) then
      text, eol = whole:gsub("\r\n", "\n"), "\r\n"
    end
    local now, old, first = replaced(want, text)
    if now == text then return whole end
    if replaced(want, now) ~= now then
      error((want.path or want.name) .. ": the next run would replace text again, because match also matches the result", 0)
    end
    local found = #old == 1 and old[1] or ("%d matches, such as %s"):format(#old, old[1])
    now = eol == "\n" and now or now:gsub("\r?\n", eol)
    return now, { ensure = "present", replacement = #old == 1 and old[1] == want.replacement and "the text " .. old[1] or found },
      { replacement = first }
  end,
}
