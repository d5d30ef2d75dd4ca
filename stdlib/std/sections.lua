-- Finds the sections of a text, each of which begins with its name in brackets, for the type ini.

local entries, lines = require "std.entries", require "std.lines"

local sections = {}

local header_line = [[^\s*\[\s*(.*?)\s*\]\s*(?:[#;].*)?$]]

-- The name of the section that begins in line i, or nil: an indented line may go on with the value above it.
local function header(list, i, continuation)
  local m, first = re.match(list[i], header_line), i
  if not m then return nil end
  while first > 1 and re.test(list[i], [[^\s]]) and not re.test(list[first - 1], header_line) do first = first - 1 end
  return not entries.continues(list, i, first, continuation) and m[1] or nil
end

-- Returns the positions of the lines that contain a word, in order, and the offset of each in the text.
local function having(text, word)
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

-- Returns the last line of the part that begins in line i, which is at a place in the text, and the place of its end.
local function finish(text, i, place, continuation)
  local list = lines.of(text)
  while true do
    local feed = text:find("\n", place, true)
    local bracket = feed and text:find("[", feed, true)
    if not bracket then return #list, #text end
    i, place = i + str.count(text:sub(feed, bracket), "\n"), bracket
    if header(list, i, continuation) then return i - 1, bracket - 1 end
  end
end

--- Returns the parts of a section, each from its header to its last line, with a place in its first line and that of its
--- end: a section may have several. The section without a name is the text before the first header.
function sections.parts(text, section, format)
  local list, found, same, continuation = lines.of(text), {}, format.sections, format.continuation
  if section == "" then
    local to, stop = 0, 0
    if not (list[1] and header(list, 1, continuation)) then to, stop = finish(text, 1, 1, continuation) end
    found[1] = { from = 1, to = math.min(to, #list), at = 1, stop = stop }
  end
  local at, places = having(text:lower(), section == "" and "[" or section:lower())
  for n, i in ipairs(at) do
    local name = header(list, i, continuation)
    if name and same(name) == same(section) then
      local to, stop = finish(text, i, places[n], continuation)
      found[#found + 1] = { from = i, to = to, at = places[n], stop = stop }
    end
  end
  return found
end

--- Returns the parts of a section in which each key has its value in where; all of them without it. Fails if the file
--- has several sections of that name, each for itself, and where does not select one.
function sections.chosen(text, section, where, format)
  local list, found = lines.of(text), sections.parts(text, section, format)
  local crowded = format.alone and lines.matching(text, [=[^\s*\[(?:[^\]"]|"(?:\\.|[^"\\])*")*\]\s*[^\s#;]]=], 1)[1]
  if crowded then error(("line %d has a setting behind its header (move the setting to the next line)"):format(crowded), 0) end
  if not where then
    if #found > 1 and re.test(section, format.repeats or "^$") then
      error(("found %d sections [%s] (select one with where, by a setting unique to it)"):format(#found, section), 0)
    end
    return found
  end
  found = tbl.filter(found, function(part)
    return tbl.all(tbl.keys(where), function(key)
      local setting = [[^\s*]] .. format.pattern(key) .. [[\s*]] .. format.sign .. [[\s*]] .. re.escape(where[key]) .. [[\s*$]]
      return tbl.any(tbl.slice(list, part.from, part.to), function(l) return re.test(l, setting) end)
    end)
  end)
  local which = str.join(tbl.map(tbl.keys(where), function(key) return key .. " = " .. where[key] end), ", ")
  if #found > 1 then error(("found %d sections [%s] with %s"):format(#found, section, which), 0) end
  return found
end

--- Returns the text without a section. Comments directly above the next section belong to that one.
function sections.without(text, section, where, format)
  local list = lines.of(text)
  return lines.changed(text, tbl.map(sections.chosen(text, section, where, format), function(part)
    local last = part.to
    while last < #list and re.test(list[last], [=[^\s*[#;]]=]) do last = last - 1 end
    return { from = part.from, to = last, lines = {} }
  end))
end

return sections
