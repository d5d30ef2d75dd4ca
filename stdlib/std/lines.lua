-- Splits and joins the lines of a text, for types that edit one.
--
--   local list, eol = lines.split(text)
--   list[#list + 1] = "one more"
--   return lines.join(list, eol)

local lines = {}

-- The last text that was split, joined or added to, with its lines: most calls find the text that the last one has made.
local last = {}

--- The property create of a type that edits.
lines.create = {
  type = "any",
  doc = 'Whether a missing file is made: true, or a table such as { owner = "root", group = "root", mode = "0600" }. What is left out is the user and group of ccm, and mode 0644. A file that is there keeps its own. Its directory has to be there.',
}

--- The property validate of a type that edits.
lines.validate = {
  type = "list",
  doc = "A command that checks the new text before it is written, such as \"visudo -cf %s\": a string, or a list of words. %s is replaced by a temporary file in the same directory, with the same owner and mode. Runs without a shell. Unless it exits 0, the file is not changed. In a plan it checks a copy in a separate directory.",
}

--- Returns the line end of a text, and the number of its line feeds. It is a carriage return and a line feed if all
--- lines end so.
function lines.ending(text)
  local feeds = str.count(text, "\n")
  return feeds > 0 and feeds == str.count(text, "\r\n") and "\r\n" or "\n", feeds
end

--- Returns the lines of a text without their ends, and the line end.
function lines.split(text)
  if text == "" then return {}, "\n" end
  if text == last.text then return tbl.slice(last.list, 1), last.eol end
  local eol = lines.ending(text)
  return str.split(str.strip_suffix(text, eol), eol), eol
end

--- Returns the result of split and remembers it for the next call with the same text. The list must not be changed.
function lines.of(text)
  if text ~= last.text then
    local list, eol = lines.split(text)
    last = { text = text, list = list, eol = eol }
  end
  return last.list, last.eol
end

-- Remembers the lines of a text, if it is split into these.
local function remember(text, list, eol)
  local is, feeds = lines.ending(text)
  last = is == eol and feeds + (str.ends(text, eol) and 0 or 1) == #list and { text = text, list = list, eol = eol } or {}
  return text
end

--- Returns the text of the lines. The list must not be changed afterwards.
function lines.join(list, eol) return #list == 0 and "" or remember(str.join(list, eol) .. eol, list, eol) end

--- Returns the number of bytes before the first line equal to this one, which is not blank, or nil.
function lines.offset(text, line)
  local eol = text == last.text and last.eol or lines.ending(text)
  return (text == line or str.starts(text, line .. eol)) and 0
    or text:find("\n" .. line .. eol, 1, true) or str.ends(text, "\n" .. line) and #text - #line or nil
end

--- Returns the position of the first line equal to this one, or nil.
function lines.position(text, line)
  if line == "" then return tbl.index_of((lines.of(text)), line) end
  local at = lines.offset(text, line)
  return at and str.count(text:sub(1, at), "\n") + 1
end

--- Returns the text after changes, in the order of the lines. Each has lines that are added in front of line from, or at
--- the end without it, or replace those up to line to. A text that was split is not split again.
function lines.changed(text, changes)
  if #changes == 0 then return text end
  local known, parts, line, offset = text == last.text, {}, 1, 0
  local eol = known and last.eol or lines.ending(text)
  local function seek(n) -- moves offset to the bytes before line n
    if n ~= line then offset = n and str.find_nth(text, "\n", n - line, offset + 1) or #text end
    line = n
  end
  for _, c in ipairs(changes) do
    local from = offset + 1
    seek(c.from)
    parts[#parts + 1] = text:sub(from, offset)
    if #c.lines > 0 and parts[#parts] ~= "" and not str.ends(parts[#parts], "\n") then parts[#parts + 1] = eol end
    for _, l in ipairs(c.lines) do parts[#parts + 1] = l .. eol end
    if c.to then seek(c.to + 1) end
  end
  local now, list = str.join(parts, "") .. text:sub(offset + 1), last.list
  for n = known and #changes or 0, 1, -1 do
    local new, from = changes[n].lines, changes[n].from or #list + 1
    for _ = from, changes[n].to or 0 do table.remove(list, from) end
    for i, l in ipairs(new) do table.insert(list, from + i - 1, l) end
  end
  return known and remember(now, list, eol) or now
end

--- Returns the text with a line, or a list of lines, behind line at, or at its end without at.
function lines.with(text, new, at)
  return lines.changed(text, { { from = at and at + 1, lines = type(new) == "table" and new or { new } } })
end

--- Returns an edit function that is like edit, but leaves a text whose last line has no end without one.
function lines.keeping(edit)
  local function kept(text, now, ...)
    if text == "" or now == text or str.ends(text, "\n") or not re.test(now, [[[^\n]\r?\n\z]]) then return now, ... end
    local cut = re.replace(now, [[\r?\n\z]], "")
    if last.text == now then last.text = cut end
    return cut, ...
  end
  return function(want, text, ...) return kept(text, edit(want, text, ...)) end
end

--- Returns the positions of the lines that match a regular expression, limit at most.
function lines.matching(text, pattern, limit)
  return re.grep(lines.ending(text) == "\r\n" and str.replace(text, "\r\n", "\n") or text, pattern, limit)
end

return lines
