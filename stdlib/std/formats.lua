-- What is known about a file of settings from its name, for the types kv and ini.

local known = require "std.known_formats"

local formats = {}

-- Returns the format of the file, with the continuation that is wanted, if any.
local function of(list, want)
  local format = tbl.copy(tbl.find(list, function(f) return re.test(want.path, f.path) end))
  format.continuation = want.continuation or format.continuation
  --- Returns a text of the same length, in which equal keys are equal texts.
  function format.fold(text)
    if format.ignore_case then text = text:lower() end
    return format.dashes and text:gsub("_", "-") or text
  end
  format.sections = format.sections or format.fold
  format.sign = format.sign or format.unknown_case and "[=:]" or list == known.ini and "=" or nil
  -- The key and its other names.
  local function names(key)
    return tbl.find(format.names or {}, function(list) return tbl.contains(tbl.map(list, string.lower), key:lower()) end) or { key }
  end
  --- Returns a regular expression that matches a key.
  function format.pattern(key)
    key = str.join(tbl.map(names(key), function(name)
      return format.blanks and re.replace(re.escape((name:gsub("%s", ""))), [[\\?.]], [[${0}\s*]]) or re.escape(name)
    end), "|")
    if format.equals then key = '"?(?:' .. key .. ')"?' end
    return (format.ignore_case and "(?i:" or "(?:") .. (format.dashes and key:gsub("[-_]", "[-_]") or key) .. ")"
  end
  --- Returns the positions of the lines of a text that may have the key.
  function format.having(text, key)
    if format.blanks then return re.grep(text, format.pattern(key)) end
    local fold, found = format.unknown_case and string.lower or format.fold, {}
    for _, name in ipairs(names(key)) do found = tbl.concat(found, re.grep(fold(text), re.escape(fold(name)))) end
    return #names(key) == 1 and found or tbl.sort(tbl.unique(found))
  end
  --- Returns a warning if a reader of the file takes only a part of one of the new values.
  function format.misread(key, values)
    for _, value in ipairs(format.cut and values or {}) do
      local bare = value and format.quotes and re.replace(value, format.quotes, "") or value
      local m = bare and re.match(bare, format.cut .. ".*$")
      if m then return ("%s %s do not take all of the value of %s, because of %s%s"):format(format.exports and "shells that read" or "readers of", want.path, key, inspect(m[0]), format.quotes and " (put the value in quotes)" or "") end
    end
  end
  return format
end

--- Returns the format of a file of keys and values.
function formats.kv(want) return of(known.kv, want) end

--- Returns the format of a file of sections.
function formats.ini(want) return of(known.ini, want) end

return formats
