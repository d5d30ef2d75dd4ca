-- The groups of a match in a text with ${1}, ${2} and so on, for the types line and replace.

local captures = {}

--- Returns the text with the groups of a match in place of ${1} and so on. A text without them is returned as it is.
function captures.filled(text, m)
  if not text:find("%${%d+}") then return text end
  return (text:gsub("%$([%${])(%d*)(}?)", function(sign, n, close)
    if sign == "$" then return "$" .. n .. close end
    if n ~= "" and close ~= "" then return m[tonumber(n)] or "" end
  end))
end

--- Returns the highest group number in the text, nil if there is none.
function captures.highest(text)
  local most
  captures.filled(text, setmetatable({}, { __index = function(_, n) most = math.max(n, most or 0) end }))
  return most
end

--- Returns the number of groups in a regular expression: its opening brackets except escaped ones and those in a
--- class.
function captures.count(pattern)
  local found = re.find_all(pattern, [=[\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]])*\]|\(\?P?<|\(\?|\(]=])
  return #tbl.filter(found, function(s) return s == "(" or re.test(s, [[^\(\?P?<$]]) end)
end

return captures
