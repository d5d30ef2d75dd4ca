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

--- Returns the text of the lines. The list must not be changed afterwards.
function lines.join(list, eol)
  if #list == 0 then return "" end
  local text = str.join(list, eol) .. eol
  local is, feeds = lines.ending(text)
  if is == eol and feeds == #list then last = { text = text, list = list, eol = eol } end
  return text
end

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

--- Returns the positions of the lines that contain a word, in order, and the offset of each in the text.
function lines.having(text, word)
  local found, places, n, from = {}, {}, 1, 1
  while word ~= "" do
    local first, final = text:find(word, from, true)
    if not first then break end
    n = n + str.count(text:sub(from, first - 1), "\n")
    if found[#found] ~= n then found[#found + 1], places[#places + 1] = n, first end
    from = final + 1
  end
  return found, places
end

--- Returns the text with a line, or a list of lines, behind line at, or at its end without at, and does not split it.
function lines.with(text, new, at)
  if at == #(at and lines.of(text) or {}) then at = nil end
  local known, added = text == last.text, type(new) == "table" and new or { new }
  local eol = known and last.eol or lines.ending(text)
  local before = at and str.join(tbl.concat(tbl.slice(last.list, 1, at), { "" }), eol)
    or (text == "" or str.ends(text, eol)) and text or text .. eol
  local between = str.join(added, eol) .. eol
  local now = before .. between .. text:sub(#before + 1)
  if not known or lines.ending(between) ~= eol then return now end
  last.text, at = now, at or #last.list
  for i, line in ipairs(added) do table.insert(last.list, at + i, line) end
  return now
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

--- Returns the position of the first line that matches a regular expression, or nil.
function lines.first(list, pattern)
  for i, l in ipairs(list) do if re.test(l, pattern) then return i end end
end

--- Returns the position of the last line that matches a regular expression, or nil.
function lines.last(list, pattern)
  for i = #list, 1, -1 do if re.test(list[i], pattern) then return i end end
end

return lines
