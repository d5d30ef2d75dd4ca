-- Finds and replaces the entries of a key in the lines of a file, for the types kv and ini.
--
-- An entry is { from = 1, to = 2, value = "a b" }: its lines, and its value, false for a key without any.

local lines = require "std.lines"

local entries = {}

local function indentation(line) return #line:match("^%s*") end
local function is_open(line) return #line:match("\\*$") % 2 == 1 end
local function says_nothing(line) return re.test(line, [[^\s*(?:[#;]|$)]]) end

--- Whether line i goes on with the value of a line before it, none of which is before the line first.
function entries.continues(list, i, first, continuation)
  local depth = indentation(list[i])
  if continuation == "none" or continuation == "indent" and (depth == 0 or depth == #list[i]) then return false end
  for n = i - 1, first, -1 do
    if not says_nothing(list[n]) then
      if continuation == "backslash" then return is_open(list[n]) end
      if indentation(list[n]) < depth then return true end
    end
  end
  return false
end

--- Returns the entry that begins in line i, and whose first line has this value. None of its lines is behind the line
--- last. The lines of the value are joined by glue.
function entries.at(list, i, last, value, continuation, glue)
  local found, parts = { from = i, to = i, value = value or false }, { value or "" }
  local open = continuation == "indent" or continuation == "backslash" and is_open(list[i])
  for n = i + 1, open and last or 0 do
    if not says_nothing(list[n]) then
      if continuation == "indent" and indentation(list[n]) <= indentation(list[i]) then break end
      found.to, parts[#parts + 1] = n, str.trim(list[n])
      if continuation == "backslash" and not is_open(list[n]) then break end
    end
  end
  if continuation == "backslash" then
    parts = tbl.map(parts, function(p) return is_open(p) and str.trim(p:sub(1, -2)) or p end)
  end
  if glue == " " then parts = tbl.filter(parts, function(p) return p ~= "" end) end
  if value or found.to > i then found.value = str.join(parts, glue) end
  return found
end

--- The properties of keys that a file may have several times.
entries.properties = {
  values = { type = "list", one_line = true, scalar = true, doc = "All values of a key that may occur several times, such as Environment in systemd units: exactly these, in this order." },
  among = { type = "boolean", default = false, doc = "Whether to keep lines with other values of the key. The resource then manages only the line with this value." },
  continuation = {
    enum = { "none", "indent", "backslash" },
    doc = "How values continue on the next line: not at all, by indentation, or by a backslash at the end of the line. The default depends on the file name.",
  },
}

--- Returns a warning if a line sets the key in another case.
function entries.other_case(path, key, line)
  local m = re.match(line, [[^\s*(?i:(]] .. re.escape(key) .. [[))\s*[=:]\s*]])
  if not m or m[1] == key then return nil end
  return ("%s has the key %s, which is %s for readers that ignore case (write the key as the file does)"):format(path, m[1], key)
end

--- Returns the property to blame and what is wrong with it, if anything.
function entries.mistake(want, format)
  if want.values and want.value then return "values", "cannot be used with value" end
  if want.values and #want.values == 0 then return "values", "expected at least one value (remove the key with ensure = \"absent\")" end
  if want.among and not want.value then return "among", "requires value" end
  for _, v in ipairs(want.values or { want.value }) do
    if re.test(v, [[^\s|\s$]]) then return want.values and "values" or "value", "expected no blanks around the value, because readers ignore them, got " .. inspect(v) end
  end
  for _, v in ipairs(format.continuation == "backslash" and (want.values or { want.value }) or {}) do
    if is_open(v) then return want.values and "values" or "value", "expected no backslash at the end, which continues the value on the next line, got " .. inspect(v) end
  end
  if want.values and want.ensure == "absent" then return "values", "cannot be used with ensure absent" end
  if want.ensure == "present" and not want.value and not want.values then return "value is required unless ensure is absent" end
end

--- Returns the text with entries replaced. all are those of the key in the file, mine those that the resource is about.
--- values are the wanted ones, write makes a line of a value, and of the entry that it replaces or nil. at is the line
--- behind which a new entry goes if there is none.
function entries.replace(text, all, mine, values, write, at)
  local changes, added, last = {}, {}, mine[#mine] or all[#all]
  for n, entry in ipairs(mine) do
    if entry.value ~= values[n] then
      changes[#changes + 1] = { from = entry.from, to = entry.to, lines = values[n] ~= nil and { write(values[n], entry) } or {} }
    end
  end
  for n = #mine + 1, #values do added[#added + 1] = write(values[n]) end
  if #added > 0 then changes[#changes + 1] = { from = (last and last.to or at) + 1, lines = added } end
  return lines.changed(text, changes)
end

--- Returns the entries that the resource is about, and their wanted values, given the values that it has for entries.
--- With only_last a resource with one value is about the last entry. With resets an empty value takes back those above.
function entries.wanted(want, all, values, only_last, resets)
  local mine = all
  if want.among then
    local reset = resets and want.ensure == "present" and tbl.index_of(tbl.map(tbl.reverse(all), function(e) return e.value end), "")
    mine = tbl.filter(reset and tbl.slice(all, #all - reset + 1) or all, function(e) return e.value == want.value end)
    values = #mine > 0 and tbl.map(mine, function() return want.value end) or values
  elseif only_last and not want.values and want.ensure == "present" then
    mine = { all[#all] }
    if resets and want.value ~= "" and mine[1] and mine[1].value == "" then mine = {} end
  end
  return mine, want.ensure == "present" and values or {}
end

return entries
