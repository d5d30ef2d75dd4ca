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
  doc = "Replaces what a regular expression matches in a text file, wherever it does. Where nothing matches, nothing is done.",
  properties = {
    name = { name = true, doc = "The path of the file or, if path is given, any name.", example = "/etc/app.conf" },
    path = { type = "path", doc = "The file. Left out, it is the name." },
    match = { type = "regexp", required = true, doc = "A regular expression (RE2). ^ and $ are the begin and the end of a line; (?s) before it lets a dot match the end of a line too. In a file of CR LF, \\n is that line end, unless the pattern has \\r." },
    replacement = { required = true, doc = "What is put in the place of each match; it may be empty. ${1} is what the first group matched, ${2} the second, and $$ in a text with one of them is a dollar. A second run must find nothing to replace: otherwise the resource fails, and the file stays as it is." },
    validate = lines.validate,
    ensure = { enum = { "present" }, default = "present", doc = "Is always present." },
  },
  phrases = { update = "replaced the text" },

  validate = function(want)
    if re.test("", want.match) then return "match", "expected a pattern that does not match an empty text, got " .. inspect(want.match) end
    local n, most = captures.highest(want.replacement), captures.count(want.match)
    if n and n > most then return "replacement", ("expected groups of match, of which there are %d, got ${%d}"):format(most, n) end
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
      error((want.path or want.name) .. ": the next run would replace something again: match fits what results, and changes it", 0)
    end
    local found = #old == 1 and old[1] or ("%d matches, such as %s"):format(#old, old[1])
    now = eol == "\n" and now or now:gsub("\r?\n", eol)
    return now, { ensure = "present", replacement = #old == 1 and old[1] == want.replacement and "the text " .. old[1] or found },
      { replacement = first }
  end,
}
