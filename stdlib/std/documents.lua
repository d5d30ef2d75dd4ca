-- Finds one document in a text of YAML with several, for the type yaml_setting.

local lines = require "std.lines"

local documents = {}

-- Returns the documents of a text. Each has its marker --- and what follows, so that together they are the text.
local function split(text)
  local list, parts, started, ended = lines.of(text), { {} }, false, false
  local _, eol = lines.of(text)
  for _, l in ipairs(list) do
    local marker = re.test(l, [[^---(\s|$)]])
    if marker and started or ended and not re.test(l, [[^\.\.\.(\s|$)]]) then
      parts[#parts + 1] = {}
      started = false
    end
    ended = re.test(l, [[^\.\.\.(\s|$)]])
    -- Comments and directives above the marker belong to its document.
    started = started or marker or not re.test(l, [[^\s*(?:#.*)?$|^%]])
    table.insert(parts[#parts], l)
  end
  local texts = tbl.map(parts, function(p) return #p > 0 and str.join(p, eol) .. eol or "" end)
  if not str.ends(text, eol) then texts[#texts] = str.strip_suffix(texts[#texts], eol) end
  return texts
end

-- Whether a document has the values.
local function has(document, values)
  return tbl.all(tbl.keys(values), function(key)
    local ok, _, found = pcall(yaml.remove, document, key)
    return ok and tbl.equal(found, values[key])
  end)
end

--- Returns what is wrong with the property document, if anything.
function documents.mistake(which)
  if type(which) == "number" and which >= 1 and which % 1 == 0 then return end
  if type(which) == "table" and next(which) and tbl.all(tbl.keys(which), function(k) return type(k) == "string" end) then return end
  return "expected a number from 1, or a table such as { kind = \"Service\" }, got " .. inspect(which)
end

--- Returns the text before the document, the document, and the text behind it. The document is nil if there is none.
function documents.find(text, which)
  local all, found = split(text), nil
  for n, document in ipairs(all) do
    if n == which or type(which) == "table" and has(document, which) then
      if found then error(("documents %d and %d both match %s"):format(found, n, inspect(which)), 0) end
      found = n
    end
  end
  if not found then return text, nil, "", #all end
  return str.join(tbl.slice(all, 1, found - 1), ""), all[found], str.join(tbl.slice(all, found + 1), ""), #all
end

return documents
