-- The lines of a text, for types that edit one.
--
--   local list, eol = lines.split(text)
--   list[#list + 1] = "one more"
--   return lines.join(list, eol)

local lines = {}

--- Returns the lines of a text without their ends, and what ends them: a line
--- feed, or a carriage return and a line feed if all of them end so.
function lines.split(text)
  if text == "" then return {}, "\n" end
  local eol = "\n"
  if str.count(text, "\n") > 0 and str.count(text, "\n") == str.count(text, "\r\n") then eol = "\r\n" end
  return str.split(str.strip_suffix(text, eol), eol), eol
end

--- Returns the text of the lines.
function lines.join(list, eol)
  if #list == 0 then return "" end
  return str.join(list, eol) .. eol
end

--- Returns the position of the last line that matches a regular expression, or
--- nil.
function lines.last(list, pattern)
  for i = #list, 1, -1 do
    if re.test(list[i], pattern) then return i end
  end
end

return lines
